# syntax=docker/dockerfile:1
# The image: Debian with glibc (the HTTP library's binary needs it), no dev dependencies, one native binary, not run as root.

FROM node:24.21.0-trixie-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# No dependency needs an install script. Of the HTTP library's binaries (two builds for many platforms), only the one that is loaded here is kept.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && cd node_modules \
 && arch="$(node -p process.arch)" abi="$(node -p process.versions.modules)" \
 && binary="uws_linux_${arch}_${abi}.node" \
 && for kept in "@btc-vision/uwebsockets.js/$binary" "uWebSockets.js/dist/bin/$binary"; do test ! -f "$kept" || break; done \
 && test -f "$kept" \
 && find . -name '*.node' ! -path "./$kept" -delete

FROM node:24.21.0-trixie-slim
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY package.json ./
COPY config ./config
COPY src ./src
# The user below cannot write to node_modules, so the JavaScript of the sources is kept there now; otherwise each start would strip their types.
RUN node --disable-warning=ExperimentalWarning --eval "import('/app/src/checkout.js').then(({ keepAll }) => keepAll())" \
 && ln -s /app/src/lingate.js /usr/local/bin/lingate \
 && chmod +x /app/src/lingate.js \
 && install -d -o 65532 -g 65532 -m 0700 /var/lib/lingate
# In a container, loopback cannot be reached from outside. Publish 8080; do not publish 9090 (metrics, probes).
ENV NODE_ENV=production \
    LINGATE_LISTEN=0.0.0.0:8080 \
    LINGATE_OPS=0.0.0.0:9090 \
    LINGATE_STORE=sqlite:/var/lib/lingate/lingate.db
VOLUME /var/lib/lingate
WORKDIR /var/lib/lingate
EXPOSE 8080 9090
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["lingate"]
CMD ["serve"]
