/** Builds the dashboard and the documentation site into dist/dashboard. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { docsSite } from './docs/vite-plugin.ts'

const here = import.meta.dirname

/** Writes a gzip copy beside each asset. */
const packed: Plugin = {
  name: 'packed-assets',
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle).filter((file) => file.startsWith('assets/'))) {
      const file = join(dir, name)
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
    }
  },
}

/**
 * The chart library reads the language from the browser when it loads, and fails on an invalid one
 * (`en-US@posix`). The dashboard formats its own numbers, so any language works.
 */
const LANGUAGE = "domEnv ? nav.language : 'en-US'"
const chartLanguage: Plugin = {
  name: 'chart-language',
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler(code) {
      if (!code.includes(LANGUAGE))
        this.error('uplot no longer reads the language: remove this plugin.')
      return code.replace(LANGUAGE, "'en-US'")
    },
  },
}

export default defineConfig({
  root: here,
  base: '/dashboard/',
  plugins: [react(), tailwind(), chartLanguage, packed, docsSite],
  build: {
    target: 'es2022',
    // All of these support light-dark(), which the palette uses.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy allows neither inline code nor data: URLs.
    assetsInlineLimit: 0,
    manifest: true, // The bundle budget reads it (bundle.test.ts).
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: [join(here, 'index.html'), join(here, 'docs.html')],
      checks: { bundlerTimings: false }, // No warnings about the speed of a slow machine.
    },
  },
})
