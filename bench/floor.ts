/**
 * The floor: the same calls by a bare script, `slots` at a time, nothing kept. Prints seconds.
 * Usage: floor.ts <base address> <model> <calls> <slots>
 */
const [baseUrl = '', model = '', calls = '0', slots = '1'] = process.argv.slice(2);
const count = Number(calls);
let next = 0;

async function worker(): Promise<void> {
  while (next < count) {
    next += 1;
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: `What is question ${next}?` }] }),
    });
    await response.json();
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(slots) }, worker));
console.log(((performance.now() - started) / 1000).toFixed(3));
