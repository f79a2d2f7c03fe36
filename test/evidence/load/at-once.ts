// Does something so many times, and no more than so many at once.

export async function atOnce(parallel: number, count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
