/** Which items a test has, who takes it, and how it goes. */
import { useSignal } from '@preact/signals';
import { MOST_SEED, MOST_TEST_COUNT } from '../../state/settings.js';
import { CONFIGURATIONS } from '../../../matrix/index.js';
import { CONFIGURATION_NAMES } from '../../engine/words.js';
import { Command } from '../../parts/command.js';
import { NumberField } from '../../parts/number-field.js';
import { ShareButton } from '../../parts/share-button.js';
import { LayoutIcon } from '../../parts/icons.js';
import { change, settings } from '../../state/store.js';
import { ANONYMOUS, begin, items } from '../../state/test-session.js';

function LayoutChoices() {
  const chosen = settings.value.testLayouts;
  return (
    <fieldset class="choices">
      <legend class="unseen">Configurations</legend>
      {CONFIGURATIONS.map((name) => {
        const isOn = chosen.includes(name);
        const isLast = isOn && chosen.length === 1;
        return (
          <label key={name} class="choice" title={isLast ? 'A test has at least one' : name}>
            <input
              type="checkbox"
              checked={isOn}
              disabled={isLast}
              onChange={() => {
                const others = chosen.filter((each) => each !== name);
                const next = isOn ? others : [...others, name];
                change({ testLayouts: CONFIGURATIONS.filter((each) => next.includes(each)) });
              }}
            />
            <LayoutIcon layout={name} />
            <span>{CONFIGURATION_NAMES[name]}</span>
          </label>
        );
      })}
    </fieldset>
  );
}

export function StartForm() {
  const { testSeed, testCount, testLayouts } = settings.value;
  const respondent = useSignal('');
  const total = items.value.length;
  const isAll = testLayouts.join() === CONFIGURATIONS.join();
  const configurations = isAll ? 'all' : testLayouts.join();
  return (
    <form
      class="test-start"
      onSubmit={(event) => {
        event.preventDefault();
        begin(respondent.value.trim() || ANONYMOUS);
      }}
    >
      <p class="hint">
        {total} matrices, the same for everyone who opens this link. One to practise first; then no
        word on right or wrong until the end. Answers and response times come as a table that{' '}
        <code>crab grade</code> reads. Nothing leaves this device.
      </p>
      <LayoutChoices />
      <div class="test-fields">
        <NumberField
          class="stacked"
          value={testCount}
          least={1}
          most={MOST_TEST_COUNT}
          words={`A test has 1 to ${MOST_TEST_COUNT} items of each.`}
          onValue={(given) => change({ testCount: given })}
        >
          <span>Items of each</span>
        </NumberField>
        <NumberField
          class="stacked"
          title="The same number gives the same items"
          value={testSeed}
          least={0}
          most={MOST_SEED}
          words={`Tests are numbered 0 to ${MOST_SEED.toLocaleString('en')}.`}
          onValue={(given) => change({ testSeed: given })}
        >
          <span>No.</span>
        </NumberField>
        <label class="field stacked">
          <span>Who answers</span>
          <input
            type="text"
            maxLength={60}
            placeholder="name or code"
            value={respondent.value}
            onInput={(event) => (respondent.value = event.currentTarget.value)}
          />
        </label>
      </div>
      <div class="actions">
        <button type="submit" class="main">
          Begin with a practice item
        </button>
        <ShareButton />
      </div>
      <p class="hint">
        The same items on paper:{' '}
        <Command
          text={`crab generate --config ${configurations} --variant ${settings.value.variant} --count ${testCount} --seed ${testSeed} --format pdf --out test.pdf --answers key.csv`}
        />
      </p>
    </form>
  );
}
