import { defineConfig } from 'vite';

// One bundle for each entry, as a classic script: a page in a file can load no module, and its policy allows one script by
// its hash. The style goes into a file of its own, which Rust puts into the page.
export default defineConfig(({ mode }) => ({
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    cssCodeSplit: false,
    reportCompressedSize: false,
    lib: {
      entry: `src/${mode}.ts`,
      name: 'throng',
      formats: ['iife'],
      fileName: () => `${mode}.js`,
      cssFileName: mode,
    },
  },
}));
