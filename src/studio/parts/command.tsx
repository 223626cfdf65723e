/** A command to type: a line breaks between its words, never within an option. */
export function Command({ text }: { readonly text: string }) {
  return (
    <code>
      {text.split(' ').map((word, i) => (
        <>
          {i > 0 && ' '}
          <span class="unbroken">{word}</span>
        </>
      ))}
    </code>
  );
}
