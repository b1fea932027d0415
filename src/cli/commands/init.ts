import { addJsonOption, type AddCommand } from '../command.ts';

export const addInit: AddCommand = (program, run) => {
  addJsonOption(program.command('init'))
    .description('write a commented run file and suite that work at once, on models that need no key')
    .argument('[dir]', 'folder for the files', '.')
    .action((folder: string) =>
      run(async () => {
        const { writeTemplates } = await import('../write-templates.ts');
        return writeTemplates(folder);
      }),
    );
};
