/**
 * The same problems in another order: candidates shuffled, and with probability 1/2 rows 1 and 2 exchanged.
 * Neither changes which candidate is right. The orders are drawn on the host, as a function of the problem's
 * place in the training alone, and applied on the device.
 */
import { CounterRandom, STREAM } from '../../base/index.js';
import { CANDIDATES, CONTEXT_PANELS } from '../../matrix/index.js';
import { arange, type Tensor } from '../../torch/index.js';
import type { ProblemBatch } from '../system.js';

/** Integers of a problem's order: which panel comes at each place of the context, then which candidate. */
export const ORDER = CONTEXT_PANELS + CANDIDATES;

const EXCHANGED = [3, 4, 5, 0, 1, 2, 6, 7];

/** Draws the orders of problems from number `first` of the training on into row-major [N, 16]. */
export function drawOrders(seed: number, first: number, orders: BigInt64Array): void {
  for (let n = 0; n < orders.length / ORDER; n++) {
    const random = new CounterRandom(seed, STREAM.reordering, first + n);
    const isExchanged = random.below(2) === 1;
    const candidates = Array.from({ length: CANDIDATES }, (_, place) => place);
    for (let place = CANDIDATES - 1; place > 0; place--) {
      const other = random.below(place + 1);
      [candidates[place], candidates[other]] = [candidates[other], candidates[place]];
    }
    const context = EXCHANGED.map((panel, place) => (isExchanged ? panel : place));
    [...context, ...candidates].forEach((from, place) => {
      orders[n * ORDER + place] = BigInt(from);
    });
  }
}

/** A batch in the orders i64 [N * 16]. */
export function inNewOrder(batch: ProblemBatch, orders: Tensor): ProblemBatch {
  const { panels, choice } = batch;
  if (choice === null) return batch;
  const [n] = panels.shape;
  const [context, offered] = orders.reshape([n, ORDER]).split([CONTEXT_PANELS, CANDIDATES], 1); // [N, 8] each
  const isAnswer = offered.eq(choice.answer.unsqueeze(1)); // [N, 8]: true at one place
  const places = arange(0, CANDIDATES, 1, { dtype: 'i64', device: panels.device });
  return {
    ...batch,
    panels: taken(panels, context),
    choice: {
      candidates: taken(choice.candidates, offered),
      answer: isAnswer.to({ dtype: 'i64' }).mul(places).sum(1),
    },
  };
}

/** Pictures [N, 8, S, S] in the order i64 [N, 8]. */
function taken(pictures: Tensor, order: Tensor): Tensor {
  return pictures.gather(1, order.unsqueeze(2).unsqueeze(3).expand(pictures.shape));
}
