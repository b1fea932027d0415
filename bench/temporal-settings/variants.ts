import { localSettings } from '../../src/local/temporal-settings.ts';
import type { TemporalSettings } from '../../src/local/temporal-settings.ts';

const withConfig = (dynamicConfig: Record<string, string>): TemporalSettings => ({
  ...localSettings,
  dynamicConfig: { ...localSettings.dynamicConfig, ...dynamicConfig },
});
const withPragmas = (...pragmas: string[]): TemporalSettings => ({
  ...localSettings,
  sqlitePragmas: [...localSettings.sqlitePragmas, ...pragmas],
});
const withGo = (GOGC: string): TemporalSettings => ({ ...localSettings, go: { ...localSettings.go, GOGC } });

/** What is compared: Assay's own settings, each change alone, and the server's defaults. */
export const variants: Readonly<Record<string, TemporalSettings>> = {
  defaults: { sqlitePragmas: [], dynamicConfig: {}, go: {} },
  wal: { sqlitePragmas: ['journal_mode=wal', 'synchronous=normal'], dynamicConfig: {}, go: {} },
  assay: localSettings,
  'GOGC 100': withGo('100'),
  'GOGC 400': withGo('400'),
  'synchronous off': withPragmas('synchronous=off'),
  'mmap 256 MiB': withPragmas('mmap_size=268435456'),
  'checkpoint 4000 pages': withPragmas('wal_autocheckpoint=4000'),
  'exclusive lock': withPragmas('locking_mode=exclusive'),
  'one partition': withConfig({
    'matching.numTaskqueueReadPartitions': '1',
    'matching.numTaskqueueWritePartitions': '1',
  }),
  'four partitions': withConfig({
    'matching.numTaskqueueReadPartitions': '4',
    'matching.numTaskqueueWritePartitions': '4',
  }),
  'no transition history': withConfig({ 'history.enableTransitionHistory': 'false' }),
  'cache by count': withConfig({ 'history.cacheSizeBasedLimit': 'false', 'history.cacheTTL': '"1h"' }),
  'cache 32 MiB': withConfig({ 'history.hostLevelCacheMaxSizeBytes': String(32 * 1024 * 1024) }),
  'GOGC 50': withGo('50'),
  'no memory limit': { ...localSettings, go: { GOGC: '200' } },
  'no eager activities': withConfig({ 'system.enableActivityEagerExecution': 'false' }),
};
