/** Files to keep of the matrix that is looked at. */
import { useSignal } from '@preact/signals';
import type { ExportFormat } from '../../engine/protocol.js';
import { messageOf } from '../../state/resource.js';
import { engine, settings, spec } from '../../state/store.js';

const FORMATS: readonly (readonly [ExportFormat, string])[] = [
  ['png', 'PNG'],
  ['svg', 'SVG'],
  ['npz', 'RAVEN npz'],
];

async function download(format: ExportFormat): Promise<void> {
  const { name, type, bytes } = await engine.export(spec.peek(), format);
  const address = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

export function ExportButtons() {
  const fault = useSignal<string | null>(null);
  const isPictures = settings.value.pictures !== '';
  return (
    <div>
      <div class="actions">
        <span class="label">Export</span>
        {FORMATS.map(([format, name]) => (
          <button
            key={format}
            type="button"
            disabled={isPictures && format !== 'png'}
            title={
              isPictures && format !== 'png' ? 'Pictures have no description to write' : undefined
            }
            onClick={() => {
              fault.value = null;
              download(format).catch((error: unknown) => (fault.value = messageOf(error)));
            }}
          >
            {name}
          </button>
        ))}
      </div>
      {fault.value !== null && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}
