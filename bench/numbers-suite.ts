/** Questions whose answer is always 42, as the simulated endpoint gives it. */
export const createNumbersSuite = (cells: number) => ({
  name: 'numbers',
  scorers: ['exact'],
  cases: Array.from({ length: cells }, (_, index) => ({
    id: `case-${index + 1}`,
    input: `What is question ${index + 1}?`,
    target: '42',
  })),
});
