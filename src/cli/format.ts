/** Short texts for figures on a terminal. Unknown money is a question mark, never 0. */

export function formatUsd(costUsd: number | null): string {
  if (costUsd === null) return '$?';
  if (costUsd === 0) return '$0';
  if (costUsd < 0.01) return `$${costUsd.toFixed(4)}`;
  return costUsd < 100 ? `$${costUsd.toFixed(2)}` : `$${Math.round(costUsd)}`;
}

/** `8s`, `1m 20s`, `2h 5m`, `3d 4h` */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** `950`, `12.3k`, `4.5M` */
export function formatCount(count: number): string {
  if (count < 10_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export const formatState = (state: string): string => state.replaceAll('_', ' ');

export const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** `2026-03-01 09:05`, in the time zone of this machine. */
export function formatMoment(iso: string): string {
  const moment = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join('-');
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** Text of others as a terminal may print it: no control characters but line breaks and tabs. */
export const toPrintable = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);

export const indent = (text: string, by: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
