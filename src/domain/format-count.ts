/** Such as `1 attempt` and `2 attempts`. */
export const formatCount = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`;
