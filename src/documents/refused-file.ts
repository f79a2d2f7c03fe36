// Ends the reading of a file that is refused: parsers are deep in it when they notice.

/** Its message is for the sender of the file. Caught where a file is read, and nowhere in between. */
export class RefusedFile extends Error {}

export function refuse(reason: string): never {
  throw new RefusedFile(reason);
}

/** What `read` returns, or why the file is refused. */
export function reasonOf(read: () => void): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof RefusedFile) return error.message;
    throw error;
  }
}
