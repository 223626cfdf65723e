/** A box that scrolls sideways if what it holds is too wide, and shows on which sides there is more. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface SideScrollProps {
  readonly class: string;
  readonly children: ComponentChildren;
}

export function SideScroll({ class: name, children }: SideScrollProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const tell = (): void => {
      const left = box.scrollLeft;
      const right = box.scrollWidth - box.clientWidth - left;
      // Less than a pixel is rounding.
      box.classList.toggle('more-left', left > 1);
      box.classList.toggle('more-right', right > 1);
    };
    const observer = new ResizeObserver(tell);
    observer.observe(box);
    for (const child of box.children) observer.observe(child);
    box.addEventListener('scroll', tell, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', tell);
    };
  }, []);
  return (
    <div class={name} ref={place}>
      {children}
    </div>
  );
}
