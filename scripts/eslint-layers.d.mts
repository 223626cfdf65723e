/** Why a file may not import another, or null. Both are paths relative to src/, with forward slashes. */
export function layerViolation(from: string, to: string): string | null;
