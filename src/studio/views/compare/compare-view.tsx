/** Compare: CRAB and the Transformer side by side on the same matrix, and on a hundred. */
import { CopyButton } from '../../parts/copy-button.js';
import { TruthSwitch } from '../../parts/erasable-matrix.js';
import { byCrab, byRival, rival } from '../../state/compare.js';
import { bundle, change, erased, matrix, settings } from '../../state/store.js';
import { Contender } from './contender.js';
import { codeOf, hasCode, jsonOf, type Compared } from './copies.js';
import { Failures } from './failures.js';
import { Offer } from './offer.js';
import { RivalNotice } from './rival-notice.js';
import { Tally } from './tally.js';

function Copies() {
  const state = rival.value;
  const crab = { system: 'crab', model: bundle.value, choice: byCrab.value.value };
  const other =
    state.phase === 'ready'
      ? [{ system: 'transformer', model: state.info.name, choice: byRival.value.value }]
      : [];
  const compared: Compared = {
    settings: settings.value,
    missing: erased.value,
    right: matrix.value.value?.right ?? [],
    answers: [crab, ...other],
  };
  const isPending = byCrab.value.pending || byRival.value.pending;
  const isReady = !isPending && compared.answers.every(({ choice }) => choice !== null);
  const isCode = hasCode(settings.value);
  return (
    <>
      <CopyButton
        label="Copy as code"
        done="Code copied"
        text={() => codeOf(compared)}
        disabled={!isReady || !isCode}
      />
      <CopyButton
        label="Copy as JSON"
        done="JSON copied"
        text={() => jsonOf(compared)}
        disabled={!isReady}
      />
      {!isCode && (
        <p class="hint">
          Code needs a matrix that a seed makes again: of Standard difficulty or with rules of your
          own, and not changed by hand.
        </p>
      )}
    </>
  );
}

export function CompareView() {
  const shown = matrix.value.value;
  const { truth, revealed } = settings.value;
  const isKnown = shown !== null && shown.target !== null;
  const told = isKnown && (truth || revealed);
  return (
    <div class="compare">
      <h1 class="unseen">Compare CRAB and the Transformer</h1>
      <Contender
        name="CRAB"
        kind="crab"
        about="Reads concepts and a rule for each, and paints what the rules ask for."
        matrix={shown}
        answer={byCrab.value}
        told={told}
      />
      <Contender
        name="Transformer"
        kind="rival"
        about="A general network trained on the same matrices: it paints too, without concepts or rules."
        matrix={shown}
        answer={byRival.value}
        told={told}
      >
        <RivalNotice />
      </Contender>
      <section class="side" aria-label="The candidates">
        <h2>The candidates</h2>
        {shown !== null && <Offer matrix={shown} told={told} />}
        <div class="actions">
          <button
            type="button"
            disabled={!isKnown || told}
            title={isKnown ? undefined : (shown?.fault ?? undefined)}
            onClick={() => change({ revealed: true })}
          >
            Mark the right candidate
          </button>
          <TruthSwitch />
        </div>
        <p class="hint">Choose a panel to erase it for both, or to put it back.</p>
        <div class="actions copies">
          <Copies />
        </div>
      </section>
      <Tally />
      <Failures />
    </div>
  );
}
