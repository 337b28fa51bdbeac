FROM golang:1.26 AS builder
WORKDIR /src

# The modules have a layer of their own: a change of our code downloads nothing.
COPY go.mod go.sum ./
RUN go mod download

COPY *.go ./
COPY api/ api/
COPY config/ config/
COPY controllers/ controllers/
COPY docs/runbooks/ docs/runbooks/
COPY internal/ internal/
COPY pkg/ pkg/
COPY webhooks/ webhooks/
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /ccm-migration-controller .

FROM gcr.io/distroless/static:nonroot
COPY --from=builder /ccm-migration-controller /ccm-migration-controller
USER 65532:65532
ENTRYPOINT ["/ccm-migration-controller"]
CMD ["manager"]
