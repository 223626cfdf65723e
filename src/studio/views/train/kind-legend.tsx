/** The colours of rules on the small maps of a training, with what each kind of rule does. */
import { KINDS, lookOfWords } from '../../parts/rule-looks.js';
import { RuleTerm } from '../../parts/term.js';

export function KindLegend() {
  return (
    <ul class="legend" aria-label="True rules of the points">
      {KINDS.map((kind) => (
        <li key={kind}>
          <span class="swatch circle" style={{ background: lookOfWords(kind).colour }} />
          <RuleTerm rule={kind} />
        </li>
      ))}
    </ul>
  );
}
