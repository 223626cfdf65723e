/** Lines of C-like code that hold anything but comments. */
export function countSlashed(text: string): number;
/** Lines of Python that hold anything but comments and documentation. */
export function countHashed(text: string): number;
