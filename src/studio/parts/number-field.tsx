/**
 * A whole number to type. One out of bounds stays in the field with a sentence that says what would be right;
 * meanwhile the number before holds, and a form around the field cannot be sent.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface NumberFieldProps {
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** What would be right, a sentence. */
  readonly words: string;
  readonly onValue: (value: number) => void;
  /** What stands before the field and names it. */
  readonly children: ComponentChildren;
  /** What stands after it. */
  readonly unit?: string;
  /** Of the whole, besides `field`. */
  readonly class?: string;
  readonly title?: string;
  /** A longer name than the one before the field, for those who do not see the place. */
  readonly name?: string;
}

export function NumberField(props: NumberFieldProps) {
  const { value, least, most, words, onValue, children, unit, title, name } = props;
  /** What was typed and is not taken yet, or refused, and the number it left in place; another number ends it. */
  const typed = useSignal<{
    readonly text: string;
    readonly kept: number;
    readonly isRefused: boolean;
  } | null>(null);
  const open = typed.value?.kept === value ? typed.value : null;
  const isRefused = open?.isRefused === true;
  const take = ({ validity, value: text }: HTMLInputElement): void => {
    typed.value = validity.valid ? null : { text, kept: value, isRefused: true };
    if (validity.valid) onValue(Number(text));
  };
  return (
    <label class={`field ${props.class ?? ''}`} title={title}>
      {children}
      <input
        type="number"
        inputMode="numeric"
        class="count"
        required
        min={least}
        max={most}
        value={open?.text ?? value}
        aria-label={name}
        aria-invalid={isRefused}
        onInput={({ currentTarget }) => {
          const { validity, value: text } = currentTarget;
          // Who corrects a refused number need not leave the field for it to be taken.
          if (isRefused && validity.valid) take(currentTarget);
          else typed.value = { text, kept: value, isRefused };
        }}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
      {unit !== undefined && <span class="label">{unit}</span>}
      {isRefused && (
        <span class="field-fault" role="alert">
          {words}
        </span>
      )}
    </label>
  );
}
