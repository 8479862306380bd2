"""packets.py OUT PORT: the TCP packets to and from a port of this machine, as the kernel saw them on the loopback device; until it is killed.

Prints "ready" once it listens; ends with status 77 where packets may not be captured. A line for each: time (CLOCK_MONOTONIC, ns), the client's port,
whether the client sent it, flags, bytes of payload."""
import socket, struct, sys, time

out, port = open(sys.argv[1], "w"), int(sys.argv[2])
SO_TIMESTAMPNS = 35
try:
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    capture.bind(("lo", 0x0800))
except OSError: sys.exit(77)
capture.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
print("ready", flush=True)
while True:
    packet, extra, _, address = capture.recvmsg(65536, 64)
    # Each comes twice here: as it leaves, and as it arrives.
    if address[2] == socket.PACKET_OUTGOING or packet[9] != socket.IPPROTO_TCP: continue
    head = (packet[0] & 15) * 4
    source, destination = struct.unpack_from("!HH", packet, head)
    if port not in (source, destination): continue
    seconds, nanoseconds = struct.unpack("qq", extra[0][2])
    payload = struct.unpack_from("!H", packet, 2)[0] - head - (packet[head + 12] >> 4) * 4
    print(seconds * 10**9 + nanoseconds - offset, destination if source == port else source, int(destination == port), packet[head + 13], payload, file=out, flush=True)
