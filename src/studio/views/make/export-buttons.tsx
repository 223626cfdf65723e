/** Files to keep of the matrix that is looked at, a worksheet of more like it, and the printer. */
import { useSignal } from '@preact/signals';
import type { ExportedFile, ExportFormat } from '../../engine/protocol.js';
import { NumberField } from '../../parts/number-field.js';
import { saveFile } from '../../parts/save-file.js';
import { messageOf } from '../../state/resource.js';
import { engine, matrix, settings, spec } from '../../state/store.js';

const FORMATS: readonly (readonly [ExportFormat, string])[] = [
  ['png', 'PNG'],
  ['svg', 'SVG'],
  ['npz', 'RAVEN npz'],
];
const MOST_ITEMS = 100;
const USUAL_ITEMS = 10;

/** Why a matrix cannot become such a file; undefined if it can. */
function refusal(format: ExportFormat): string | undefined {
  if (format === 'png') return undefined;
  if (settings.value.pictures !== '') return 'Pictures have no description to write';
  const isKeyless = format === 'npz' && matrix.value.value?.target === null;
  return isKeyless ? 'A RAVEN file names the right answer; this item has none' : undefined;
}

type Save = (make: () => Promise<ExportedFile>) => void;

function Worksheet({ save }: { readonly save: Save }) {
  const count = useSignal(USUAL_ITEMS);
  return (
    <form
      class="actions"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = spec.peek();
        if (wanted.kind === 'sampled') save(() => engine.worksheet(wanted, count.value));
      }}
    >
      <NumberField
        value={count.value}
        least={1}
        most={MOST_ITEMS}
        words={`A worksheet has 1 to ${MOST_ITEMS} items.`}
        name="Items of the worksheet"
        unit="items"
        onValue={(given) => (count.value = given)}
      >
        <span class="label">Worksheet of</span>
      </NumberField>
      <button type="submit">PDF with key</button>
      <button type="button" onClick={() => print()}>
        Print this item
      </button>
    </form>
  );
}

export function ExportButtons() {
  /** What went wrong, or what the maker of a file must know. */
  const said = useSignal<string | null>(null);
  const isPictures = settings.value.pictures !== '';
  const save: Save = (make) => {
    said.value = null;
    make().then(
      (file) => {
        saveFile(file);
        said.value = file.notice ?? null;
      },
      (error: unknown) => (said.value = messageOf(error)),
    );
  };
  return (
    <div class="exports">
      <div class="actions">
        <span class="label">Export</span>
        {FORMATS.map(([format, name]) => (
          <button
            key={format}
            type="button"
            disabled={refusal(format) !== undefined}
            title={refusal(format)}
            onClick={() => save(() => engine.export(spec.peek(), format))}
          >
            {name}
          </button>
        ))}
      </div>
      {!isPictures && <Worksheet save={save} />}
      {matrix.value.value?.fault && (
        <p class="hint" data-testid="untold">
          That warning is for you: files and prints leave it out, the key of a worksheet has it.
        </p>
      )}
      {said.value !== null && (
        <p class="fault" role="alert">
          {said.value}
        </p>
      )}
    </div>
  );
}
