/** A file dropped beside the place for pictures must not make the browser leave the page for it. */

/** What is dropped where something takes it is already taken when it reaches the window. */
function refuse(event: DragEvent): void {
  if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = 'none';
}

export function refuseStrayFiles(): void {
  addEventListener('dragover', refuse);
  addEventListener('drop', refuse);
}
