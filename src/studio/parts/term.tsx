/** A word that explains itself: on hover, on focus and on a tap; Escape, scrolling and a look elsewhere end it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { explainRule } from '../engine/words.js';

/** As wide as styles allow an explanation, with room at the edge of the screen. */
const MOST_WIDTH = 272;
/** What an explanation of three lines needs below its word, above the tabs of a phone. */
const ROOM_BELOW = 150;

interface TermProps {
  readonly meaning: string;
  readonly children: ComponentChildren;
}

function Term({ meaning, children }: TermProps) {
  const id = useId();
  const word = useRef<HTMLSpanElement>(null);
  /** Where it shows; null while it does not. */
  const place = useSignal<string | null>(null);
  const close = (): void => {
    place.value = null;
  };
  const open = (): void => {
    const box = word.current?.getBoundingClientRect();
    if (box === undefined) return;
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - MOST_WIDTH));
    const isLow = box.bottom + ROOM_BELOW > innerHeight;
    place.value = `left: ${left}px; ${isLow ? `bottom: ${innerHeight - box.top}px` : `top: ${box.bottom}px`}`;
  };
  const isOpen = place.value !== null;
  // Before it is seen: who sees it can end it.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
    };
    const onPress = (event: Event): void => {
      if (!(event.target instanceof Node && word.current?.contains(event.target))) close();
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', onPress);
    // Focus may have scrolled the word into sight: the event of that comes before the next frame.
    const frame = requestAnimationFrame(() => document.addEventListener('scroll', close, true));
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', onPress);
      cancelAnimationFrame(frame);
      document.removeEventListener('scroll', close, true);
    };
  }, [isOpen]);
  return (
    <span
      ref={word}
      onPointerEnter={({ pointerType }: PointerEvent) => pointerType === 'mouse' && open()}
      onPointerLeave={({ pointerType }: PointerEvent) => pointerType === 'mouse' && close()}
    >
      <button
        type="button"
        class="term"
        aria-describedby={id}
        onFocus={open}
        onBlur={close}
        onClick={open}
      >
        {children}
      </button>
      <span class="explanation" role="tooltip" id={id} hidden={!isOpen} style={place.value ?? ''}>
        {meaning}
      </span>
    </span>
  );
}

/** A rule's name, its sign in the line of its word. */
export function RuleName({ rule }: { readonly rule: string }) {
  const [, before, signed] = /^(.*?)(\S+ [+−]\d?)$/.exec(rule) ?? [];
  if (signed === undefined) return <>{rule}</>;
  return (
    <>
      {before}
      <span class="unbroken">{signed}</span>
    </>
  );
}

/** A rule's name that tells what the rule does; `meaning`: what it does to its attribute. */
export function RuleTerm({ rule, meaning }: { readonly rule: string; readonly meaning?: string }) {
  return (
    <Term meaning={explainRule(rule, meaning)}>
      <RuleName rule={rule} />
    </Term>
  );
}
