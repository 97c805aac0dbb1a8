# Any Node can build the image; Souk itself runs on the Node that package-lock.json pins.
FROM node:24-bookworm-slim AS build
# The pinned Node needs libatomic, which small images lack.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /souk
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/*
# The embedded PostgreSQL, which runs unless DATABASE_URL is set, refuses to run as root.
RUN useradd --system --create-home --home-dir /data souk && chmod 700 /data
COPY --from=build /souk /souk
RUN ln -s /souk/bin/souk.mjs /usr/local/bin/souk
ENV HOST=0.0.0.0 SOUK_DATA=/data PATH=/souk/node_modules/.bin:$PATH
USER souk
VOLUME /data
EXPOSE 8080
# Not /readyz: a node that is replaced while the database is away redirects no reader.
# An upgrade of millions of rows took four minutes: who is replaced in the midst of it begins again.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30m CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["souk"]
CMD ["serve"]
