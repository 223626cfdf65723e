/** Arguments of a command as one types them: words`grade ${file} --json`. What is filled in is never split. */
export const words = (texts: TemplateStringsArray, ...filled: readonly string[]): string[] =>
  texts
    .map((text, i) => (i === 0 ? text : `\0${i - 1}\0${text}`))
    .join('')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/\0(\d+)\0/g, (_, i: string) => filled[Number(i)]));
