/** How sure CRAB is: the same panels painted again and again from rules as likely as it finds them. */
import { useMemo } from 'preact/hooks';
import { misfit } from '../../parts/misfit-notice.js';
import { Pixels } from '../../parts/panel.js';
import { samples } from '../../state/store.js';

/** Where samples differ: white where all agree, darker the more they vary. */
function spread(images: readonly Float32Array[]): { values: Float32Array; mean: number } {
  const pixels = images[0].length;
  const values = new Float32Array(pixels);
  let total = 0;
  for (let i = 0; i < pixels; i++) {
    let [sum, squares] = [0, 0];
    for (const image of images) {
      sum += image[i];
      squares += image[i] * image[i];
    }
    const mean = sum / images.length;
    const deviation = Math.sqrt(Math.max(0, squares / images.length - mean * mean));
    total += deviation;
    values[i] = 1 - Math.min(1, 2 * deviation);
  }
  return { values, mean: total / pixels };
}

function wordFor(mean: number): string {
  if (mean < 0.004) return 'certain';
  if (mean < 0.015) return 'sure';
  if (mean < 0.04) return 'wavering';
  return 'guessing';
}

function SampleRow({
  position,
  images,
}: {
  readonly position: number;
  readonly images: readonly Float32Array[];
}) {
  const { values, mean } = useMemo(() => spread(images), images);
  return (
    <tr data-position={position}>
      <th scope="row">
        {position}
        <span class="sureness">{misfit() === null ? wordFor(mean) : 'a guess'}</span>
      </th>
      {images.map((image, i) => (
        <td key={i}>
          <Pixels values={image} label={`panel ${position}, sample ${i + 1}`} />
        </td>
      ))}
      <td class="spread">
        <Pixels values={values} label={`panel ${position}: where the samples differ`} />
      </td>
    </tr>
  );
}

export function Samples() {
  const drawn = samples.value.value;
  return (
    <section class="samples" aria-label="Samples">
      <h2>What else it could be</h2>
      <p class="hint">
        Each row is one erased panel, imagined several times with rules drawn at random around those
        it read; the last picture is dark where they disagree.
      </p>
      {drawn !== null && (
        <table>
          <colgroup>
            <col class="row-name" />
          </colgroup>
          <thead class="unseen">
            <tr>
              <th scope="col">Panel</th>
              <th scope="colgroup" colSpan={drawn.images.length}>
                Samples
              </th>
              <th scope="col">Spread</th>
            </tr>
          </thead>
          <tbody>
            {drawn.missing.map((position, i) => (
              <SampleRow
                key={position}
                position={position}
                images={drawn.images.map((images) => images[i])}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
