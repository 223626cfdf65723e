/** Something worked out elsewhere, for one component: null until it is there. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../base/index.js';

interface Outcome<T> {
  readonly value: T | null;
  readonly fault: string | null;
}

/** Runs `work` whenever `key` changes; what an older key gives is dropped. Null works nothing out. */
export function useAsync<T>(work: (() => Promise<T>) | null, key: string): Outcome<T> {
  const [outcome, setOutcome] = useState<Outcome<T> & { readonly key: string }>({
    value: null,
    fault: null,
    key: '',
  });
  useEffect(() => {
    let isCurrent = true;
    work?.().then(
      (value) => isCurrent && setOutcome({ value, fault: null, key }),
      (error: unknown) => isCurrent && setOutcome({ value: null, fault: messageOf(error), key }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return outcome.key === key ? outcome : { value: null, fault: null };
}
