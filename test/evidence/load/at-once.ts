// Repeats an action a number of times with limited concurrency.

export async function atOnce(parallel: number, count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
