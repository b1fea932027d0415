/** A stream of draws, uniform in [0, 1). */
export type Random = () => number;

/**
 * Draws that depend on the seed alone: the small fast counting generator sfc32 (Doty-Humphrey, of the PractRand
 * suite), 32 bits a draw, its first fifteen rounds left out.
 */
export function createRandom(seed: number): Random {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9 | 0, 1];
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 15; round += 1) draw();
  return draw;
}
