/** The matrix as an item for paper: shown by the printer alone, in place of the page. */
import { engine, settings, spec } from '../state/store.js';
import { useAsync } from './use-async.js';

export function PrintItem() {
  const wanted = spec.value;
  const isPictures = settings.value.pictures !== '';
  const made = useAsync(
    isPictures ? null : () => engine.export(wanted, 'svg'),
    JSON.stringify(wanted),
  );
  if (made.value === null) return null;
  const svg = new TextDecoder().decode(made.value.bytes);
  return (
    <img
      class="print-item"
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt="The matrix and its candidates"
    />
  );
}
