/**
 * Press and hold, with a finger, a mouse or the space bar: `onHold` hears when it begins and ends, and a
 * press that was held is no click.
 */
import { useMemo } from 'preact/hooks';

const HOLD_MILLISECONDS = 350;

export function useHold(onHold: (isHeld: boolean) => void, onClick: () => void) {
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isHeld = false;
    const begin = (): void => {
      if (timer !== null) return;
      isHeld = false;
      timer = setTimeout(() => {
        isHeld = true;
        onHold(true);
      }, HOLD_MILLISECONDS);
    };
    const end = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      onHold(false);
    };
    return {
      onPointerDown: begin,
      onPointerUp: end,
      onPointerCancel: end,
      onPointerLeave: end,
      onBlur: end,
      onKeyDown: (event: KeyboardEvent) => event.key === ' ' && begin(),
      onKeyUp: (event: KeyboardEvent) => event.key === ' ' && end(),
      // A long press on a phone asks for a menu of the picture.
      onContextMenu: (event: Event) => event.preventDefault(),
      onClick: () => {
        if (!isHeld) onClick();
        isHeld = false;
      },
    };
  }, []);
}
