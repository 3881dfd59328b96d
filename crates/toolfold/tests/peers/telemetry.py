"""A collector that knows OpenTelemetry's own messages, and a reader that knows Prometheus's text.

Prints where it listens. Takes what is sent to /v1/traces and /v1/metrics until its input ends, which is the text of /metrics; then
prints what it understood, one JSON object.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

taken = {"/v1/traces": [], "/v1/metrics": []}


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        known = self.path in taken and self.headers["content-type"] == "application/x-protobuf"
        if known:
            taken[self.path].append(body)
        self.send_response(200 if known else 400)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def attributes(of):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in of.attributes}


def spans():
    for body in taken["/v1/traces"]:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            assert attributes(resource.resource)["service.name"] == "toolfold"
            for scope in resource.scope_spans:
                for span in scope.spans:
                    assert len(span.trace_id) == 16 and len(span.span_id) == 8
                    assert span.end_time_unix_nano >= span.start_time_unix_nano > 1_700_000_000 * 10**9
                    yield {
                        "name": span.name,
                        "kind": span.kind,
                        "trace": span.trace_id.hex(),
                        "span": span.span_id.hex(),
                        "parent": span.parent_span_id.hex(),
                        "links": [{"trace": link.trace_id.hex(), "span": link.span_id.hex(), "flags": link.flags} for link in span.links],
                        "error": span.status.code,
                        "attributes": attributes(span),
                    }


def metrics():
    for body in taken["/v1/metrics"]:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    kind = metric.WhichOneof("data")
                    for point in getattr(metric, kind).data_points:
                        if kind == "histogram":
                            assert sum(point.bucket_counts) == point.count
                            assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
                            value = point.count
                        else:
                            value = point.as_double
                        yield {"name": metric.name, "kind": kind, "unit": metric.unit, "value": value,
                               "attributes": attributes(point)}


server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps(f"http://127.0.0.1:{server.server_port}"), flush=True)
text = sys.stdin.read()
families = {}
for family in text_string_to_metric_families(text):
    for sample in family.samples:
        families[f"{sample.name}{json.dumps(sample.labels, sort_keys=True)}"] = sample.value
print(json.dumps({"spans": list(spans()), "metrics": list(metrics()), "read": families}))
