/** Builds the dashboard and, from openapi.json, the API reference, into dist/dashboard. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { ERRORS } from '../src/platform/errors.ts'
import { renderReference } from './docs/render-reference.ts'

const here = import.meta.dirname

/** The reference is a plain page: it is written at build time and needs no script. */
const reference: Plugin = {
  name: 'api-reference',
  transformIndexHtml: {
    order: 'pre',
    handler: (html, { path }) => {
      if (!path.endsWith('/docs.html')) return html
      const api = JSON.parse(readFileSync(join(here, '../openapi.json'), 'utf8'))
      // As a function: a description may hold `$&`.
      return html.replace('<!-- reference -->', () => renderReference(api, ERRORS))
    },
  },
}

/** Each asset beside itself in gzip, for whoever takes it so. */
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
 * The chart's library reads numbers' language from the browser as it loads, and nothing is drawn
 * where that is none (`en-US@posix`). Its names of numbers are ours: any language will do.
 */
const LANGUAGE = "domEnv ? nav.language : 'en-US'"
const chartLanguage: Plugin = {
  name: 'chart-language',
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler(code) {
      if (!code.includes(LANGUAGE)) this.error('uplot asks for no language: take this plugin out.')
      return code.replace(LANGUAGE, "'en-US'")
    },
  },
}

export default defineConfig({
  root: here,
  base: '/dashboard/',
  plugins: [react(), tailwind(), chartLanguage, reference, packed],
  build: {
    target: 'es2022',
    // Each has light-dark(), by which the whole palette is written.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The pages' policy allows neither inline code nor data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: [join(here, 'index.html'), join(here, 'docs.html')],
      checks: { bundlerTimings: false }, // A slow machine is not warned of itself.
    },
  },
})
