// Writes docs/api from the docstrings of what `import 'assay'` gives. The two tools are fetched by npx for this alone:
// they bring a TypeScript of their own, and nothing else needs them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, globSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const EXTRACTOR = '@microsoft/api-extractor@7.60.1';
const DOCUMENTER = '@microsoft/api-documenter@7.30.18';

const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
const runPackage = (name, args, cwd) => run('npx', ['--yes', '--package', name, '--', ...args], cwd);

const work = mkdtempSync(join(tmpdir(), 'assay-api-'));
try {
  const types = join(work, 'types');
  const flags = ['--declaration', '--emitDeclarationOnly', '--sourceMap', 'false', '--outDir', types];
  run('tsc', ['-p', 'tsconfig.build.json', ...flags], root);
  for (const file of globSync('**/*.d.ts', { cwd: types })) {
    const path = join(types, file);
    const text = readFileSync(path, 'utf8');
    // Declarations keep the extension of the sources, which an older TypeScript does not take.
    writeFileSync(path, text.replace(/((?:from|import\() ?['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
  symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
  writeFileSync(
    join(work, 'package.json'),
    JSON.stringify({ name: 'assay', version: '0.0.0', type: 'module' }),
  );
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(toCompilerOptions()));
  writeFileSync(join(work, 'api-extractor.json'), JSON.stringify(toConfig()));
  runPackage(
    EXTRACTOR,
    ['api-extractor', 'run', '--local', '--config', join(work, 'api-extractor.json')],
    work,
  );
  rmSync(join(root, 'docs/api'), { recursive: true, force: true });
  const places = ['--input-folder', join(work, 'model'), '--output-folder', join(root, 'docs/api')];
  runPackage(DOCUMENTER, ['api-documenter', 'markdown', ...places], work);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function toCompilerOptions() {
  return {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
      strict: true,
    },
    include: ['types/**/*.d.ts'],
  };
}

function toConfig() {
  const quiet = { logLevel: 'none' };
  return {
    projectFolder: work,
    mainEntryPointFilePath: join(work, 'types/index.d.ts'),
    compiler: { tsconfigFilePath: join(work, 'tsconfig.json') },
    apiReport: { enabled: false },
    docModel: { enabled: true, apiJsonFilePath: join(work, 'model/assay.api.json') },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: quiet },
      extractorMessageReporting: { default: quiet, 'ae-forgotten-export': quiet },
      tsdocMessageReporting: { default: quiet },
    },
  };
}
