import { listPriceAges } from '../providers/find-price.ts';
import type { PriceAge } from '../providers/find-price.ts';
import { passed, warned } from './check.ts';
import type { Check } from './check.ts';

/** Providers change prices every few weeks; older figures are said to be so. */
const OLD_DAYS = 90;

/** How old Assay's own table of prices is, and on which texts it rests; `now` in epoch milliseconds. */
export function checkPrices(now: number): Check {
  const ages = listPriceAges(now);
  const detail = ages.map(describe).join('; ');
  const old = ages.filter(({ days }) => days > OLD_DAYS).map(({ kind }) => kind);
  if (old.length === 0) return passed('prices', detail);
  return warned(
    'prices',
    detail,
    `Prices of ${old.join(', ')} were looked up more than ${OLD_DAYS} days ago: compare them with the provider's page, set models[].price, or install a newer Assay.`,
  );
}

const describe = ({ kind, prices, thirdParty, oldest, read, days }: PriceAge): string =>
  `${kind}: ${prices} looked up on ${read} (${days} days ago), ${thirdParty} in texts of third parties, oldest text ${oldest}`;
