"""A slow link between two network devices: every frame that comes from one goes out at the other, so many milliseconds later.

Done here and not by the kernel (netem), which many kernels are built without. Frames are handed on with the header in which the
kernel says what is left to be done to them (checksums, cutting into pieces): without it they would arrive broken.

    link.py ONE OTHER MILLISECONDS
"""

import collections
import select
import socket
import struct
import sys
import time

ALL = 0x0003
SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 15, 23
LARGEST = 10 + 14 + 65535 + 64


def device(name):
    line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    line.setsockopt(SOL_PACKET, PACKET_VNET_HDR, struct.pack("i", 1))
    line.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, struct.pack("i", 1))
    line.bind((name, ALL))
    line.setblocking(False)
    return line


def main():
    one, other, delay = device(sys.argv[1]), device(sys.argv[2]), float(sys.argv[3]) / 1000
    across, waiting = {one: other, other: one}, collections.deque()
    print("ready", flush=True)
    while True:
        rest = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for line in select.select(list(across), [], [], rest)[0]:
            waiting.append((time.monotonic() + delay, across[line], line.recv(LARGEST)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, line, frame = waiting.popleft()
            try:
                line.send(frame)
            except OSError:
                # A frame that cannot be handed on is lost, as on any link.
                pass


if __name__ == "__main__":
    main()
