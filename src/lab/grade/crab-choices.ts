/** What CRAB's models choose on items that were made for other models. */
import { itemName } from '../../matrix/index.js';
import { drawnItem } from './drawn-item.js';
import type { CrabChoices } from './model-answers.js';
import type { ModelItem } from './model-items.js';
import { ModelRespondent } from './model-respondent.js';
import { recipeOf } from './picture-bank.js';

/** The letters that models choose; items of configurations that none of them knows are left out. */
export async function crabChoices(
  models: readonly string[],
  items: readonly ModelItem[],
  signal?: AbortSignal,
): Promise<CrabChoices> {
  const drawn = await Promise.all(
    items.map(async ({ folder, index }) => {
      const recipe = await recipeOf(folder);
      return recipe && drawnItem(itemName(recipe.layout, index), recipe.make(index));
    }),
  );
  const known = items.flatMap((item, i) => {
    const test = drawn[i];
    // The same answer and rules, or it is not the problem that was shown.
    const right = item.candidates[item.letters.indexOf(item.answer)];
    const same = test?.answer === right + 1 && test.rules?.join() === item.rulesInWords.join();
    return test === undefined || !same ? [] : [{ item, test }];
  });
  const respondent = await ModelRespondent.load(models, signal);
  try {
    const choices = await respondent.choose(
      known.map(({ test }) => test),
      signal,
      known.map(({ item }) => item.candidates),
    );
    return new Map(
      known.flatMap(({ item }, i) => {
        const choice = choices[i];
        return choice === null
          ? []
          : [[item.id, item.letters[item.candidates.indexOf(choice - 1)]]];
      }),
    );
  } finally {
    await respondent.dispose();
  }
}
