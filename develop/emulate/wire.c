/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "dns.h"
#include "link.h"
#include "packet.h"
#include "relay.h"
#include "util/units.h"
#include "util/util.h"

#define DNS_PORT 53
#define AT_ONCE 64        /* packets of one device before others get their turn */
/* Packets in a millisecond, in and out: each wake-up takes longer than a packet, so several wait. */
#define DENSE 4
#define DENSE_NS INT64_C(500000) /* from one wake-up to the next */
#define INSIDE_MAX 16384  /* remembered flows from the app to itself */
#define FRAGMENTED 65536  /* identifications of packets */
/* Before the kernel is asked again whether the app listens there: that takes long. */
#define OUTSIDE_NS INT64_C(20000000)

/* A flow of the app over its own loopback; both directions have one. Or, for some time, one of UDP that leaves it. */
struct inside {
        struct packet_flow flow;
        int64_t outside_until_ns; /* 0: it stays inside */
        UT_hash_handle hh;
};

struct state {
        const struct wire *wire;
        _Alignas(8) uint8_t bytes[PACKET_MAX];
        struct shaper *shaper;
        struct relay *relay;
        int64_t woke_ns, counted_ns; /* the last time, and since when packets are counted, by the clock */
        size_t packets;
        bool dense;
        struct inside *inside;
        /* Whether the first fragment of a packet of that identification stayed inside. */
        bool fragments_inside[FRAGMENTED];
};

static int64_t now_ns(void)
{
        return (int64_t)util_clock_ns(CLOCK_MONOTONIC);
}

static int64_t run_ns(const struct state *state)
{
        int64_t origin_ns = __atomic_load_n(state->wire->origin_ns, __ATOMIC_ACQUIRE);

        return origin_ns ? MAX(now_ns() - origin_ns, INT64_C(1)) : 0;
}

static void remember(struct state *state, const struct packet_flow *flow, int64_t outside_until_ns)
{
        struct inside *inside, *oldest = state->inside;

        HASH_FIND(hh, state->inside, flow, sizeof(*flow), inside);
        if (!inside) {
                if (HASH_COUNT(state->inside) >= INSIDE_MAX) {
                        HASH_DEL(state->inside, oldest);
                        free(oldest);
                }
                inside = calloc(1, sizeof(*inside));
                if (!inside)
                        return;
                memcpy(&inside->flow, flow, sizeof(*flow));
                HASH_ADD(hh, state->inside, flow, sizeof(inside->flow), inside);
        }
        inside->outside_until_ns = outside_until_ns;
}

/* Does the app talk to itself with it? That is asked when a flow begins. */
static bool flow_stays_inside(struct state *state, const struct packet *packet, int64_t at_ns)
{
        struct packet_flow key, back;
        struct inside *inside;

        memset(&key, 0, sizeof(key));
        key.from = packet->flow.from;
        key.to = packet->flow.to;
        key.from_port = packet->flow.from_port;
        key.to_port = packet->flow.to_port;
        key.protocol = packet->flow.protocol;
        HASH_FIND(hh, state->inside, &key, sizeof(key), inside);
        if (inside && inside->outside_until_ns > at_ns)
                return false;
        if (packet->opens && inside && !wire_listens(state->wire->listening, key.protocol, key.to_port)) {
                HASH_DEL(state->inside, inside);
                free(inside);
                return false;
        }
        if (inside && !inside->outside_until_ns)
                return true;
        if (!packet->opens && key.protocol != IPPROTO_UDP)
                return false;
        if (!wire_listens(state->wire->listening, key.protocol, key.to_port)) {
                if (key.protocol == IPPROTO_UDP)
                        remember(state, &key, at_ns + OUTSIDE_NS);
                return false;
        }
        memcpy(&back, &key, sizeof(key)); /* with the same bytes between its members */
        back.from = key.to;
        back.to = key.from;
        back.from_port = key.to_port;
        back.to_port = key.from_port;
        remember(state, &key, 0);
        remember(state, &back, 0);
        return true;
}

/* Later fragments, which have no ports, go where the first one went. */
static bool stays_inside(struct state *state, const struct packet *packet, int64_t at_ns)
{
        bool inside = packet->first ? flow_stays_inside(state, packet, at_ns) : state->fragments_inside[packet->id];

        if (packet->first && !packet->whole)
                state->fragments_inside[packet->id] = inside;
        return inside;
}

/* From the app: to itself at once, else to the link by the addresses that its packets have there. */
static void from_app(struct state *state, size_t length, int64_t at_ns)
{
        struct packet packet;
        uint32_t from, to;

        if (!packet_read(state->bytes, length, &packet))
                return;
        from = packet.flow.from;
        to = packet.flow.to;
        if (packet_is_loopback(to) &&
            (!packet_is_loopback(from) || stays_inside(state, &packet, at_ns) || state->wire->maker < 0)) {
                (void)link_send(state->wire->app_tun, state->bytes, length);
                return;
        }
        if (packet_is_loopback(to)) {
                if (to >> 16 != PACKET_LOCALHOST >> 16 || from != PACKET_LOCALHOST)
                        return;
                to = PACKET_HOST_LOCAL | (to & 0xffff);
                packet_readdress(state->bytes, length, PACKET_APP_LOCAL, to);
        }
        (void)shaper_take(state->shaper, RADIO_TX, state->bytes, length, relay_host_ns(state->relay, to, false), at_ns);
}

/* Records the names in a DNS server's answer, which make the list of peers readable. */
static void note_names(const struct state *state, const struct packet *packet, const uint8_t *bytes, size_t length)
{
        struct name_record names[16];
        size_t header = (size_t)(bytes[0] & 15) * 4 + 8, n;

        if (packet->flow.protocol != IPPROTO_UDP || packet->flow.from_port != DNS_PORT || !packet->first ||
            length < header)
                return;
        n = dns_answer(bytes + header, length - header, names, ARRAY_SIZE(names));
        if (n)
                (void)!write(state->wire->names, names, n * sizeof(*names));
}

static void to_link(struct state *state, const uint8_t *bytes, size_t length, int64_t at_ns)
{
        struct packet packet;

        if (!packet_read(bytes, length, &packet))
                return;
        note_names(state, &packet, bytes, length);
        (void)shaper_take(state->shaper, RADIO_RX, bytes, length,
                          relay_host_ns(state->relay, packet.flow.from, packet.accepts), at_ns);
}

static void received(void *context, const uint8_t *bytes, size_t length)
{
        struct state *state = context;

        to_link(state, bytes, length, run_ns(state));
}

/* 0; a negative errno: the device is gone. */
static int receive(struct state *state, int tun)
{
        for (int i = 0; i < AT_ONCE; i++) {
                ssize_t n = read(tun, state->bytes, sizeof(state->bytes));

                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                state->packets++;
                if (tun == state->wire->app_tun)
                        from_app(state, (size_t)n, run_ns(state));
                else
                        to_link(state, state->bytes, (size_t)n, run_ns(state));
        }
        return 0;
}

/* By the addresses that the app knows. */
static void to_app(struct state *state, struct shaped *shaped)
{
        struct packet packet;

        if (packet_read(shaped->bytes, shaped->record.bytes, &packet) && packet.flow.to == PACKET_APP_LOCAL)
                packet_readdress(shaped->bytes, shaped->record.bytes, UINT32_C(127) << 24 | (packet.flow.from & 0xffff),
                                 PACKET_LOCALHOST);
        (void)link_send(state->wire->app_tun, shaped->bytes, shaped->record.bytes);
}

static int deliver(struct state *state)
{
        struct shaped *shaped;

        while ((shaped = shaper_give(state->shaper, run_ns(state)))) {
                state->packets++;
                if (shaped->record.direction == RADIO_RX)
                        to_app(state, shaped);
                else if (relay_packet(state->relay, shaped->bytes, shaped->record.bytes) < 0)
                        return -EPIPE;
        }
        relay_flush(state->relay);
        return 0;
}

static int write_log(struct state *state)
{
        struct packet_record records[256];
        struct packet_head heads[ARRAY_SIZE(records)];
        size_t n;

        while ((n = shaper_records(state->shaper, records, heads, ARRAY_SIZE(records)))) {
                if (write(state->wire->log, records, n * sizeof(*records)) != (ssize_t)(n * sizeof(*records)))
                        return -EIO;
                if (state->wire->plan.heads &&
                    write(state->wire->heads, heads, n * sizeof(*heads)) != (ssize_t)(n * sizeof(*heads)))
                        return -EIO;
        }
        return 0;
}

/* Between two turns: rests while packets are dense, which makes them late by less than DENSE_NS. */
static void rest(struct state *state)
{
        int64_t at_ns = now_ns(), until_ns = state->woke_ns + DENSE_NS;
        struct timespec until = { (time_t)(until_ns / (int64_t)NS_PER_S), (long)(until_ns % (int64_t)NS_PER_S) };

        if (at_ns - state->counted_ns >= (int64_t)NS_PER_MS) {
                state->dense = (double)state->packets * (double)NS_PER_MS >=
                               DENSE * (double)(at_ns - state->counted_ns);
                state->packets = 0;
                state->counted_ns = at_ns;
        }
        if (state->dense && at_ns < until_ns)
                (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        state->woke_ns = now_ns();
}

/* One turn: waits for packets, sockets, or the time of the next packet. 1: it is to end; 0; a negative errno. */
static int turn(struct state *state)
{
        struct pollfd polled[] = { { state->wire->stop, POLLIN, 0 },
                                   { state->wire->app_tun, POLLIN, 0 },
                                   { state->wire->middle_tun, POLLIN, 0 },
                                   { relay_fd(state->relay), POLLIN, 0 } };
        int64_t next_ns = shaper_next_ns(state->shaper), wait_ns;
        struct timespec timeout;
        int n, err;

        rest(state);
        wait_ns = next_ns == INT64_MAX ? INT64_MAX : MAX(next_ns - run_ns(state), INT64_C(0));
        timeout = (struct timespec){ (time_t)(wait_ns / (int64_t)NS_PER_S), (long)(wait_ns % (int64_t)NS_PER_S) };
        n = ppoll(polled, ARRAY_SIZE(polled), wait_ns == INT64_MAX ? NULL : &timeout, NULL);
        err = n < 0 && errno != EINTR ? -errno : 0;
        if (!err)
                err = deliver(state);
        if (!err && polled[1].revents)
                err = receive(state, state->wire->app_tun);
        if (!err && polled[2].revents)
                err = receive(state, state->wire->middle_tun);
        if (!err && polled[3].revents)
                err = relay_work(state->relay);
        if (!err)
                err = write_log(state);
        return err ? err : polled[0].revents != 0;
}

/* As on the device, whose kernel goes on after an app has ended. 1; a negative errno. */
static int send_rest(struct state *state)
{
        int64_t until_ns = now_ns() + WIRE_REST_S * (int64_t)NS_PER_S;
        int err = 0;

        while (err >= 0 && now_ns() < until_ns && wire_sends(state->wire->listening)) {
                struct timespec moment = { 0, 2000000 };

                err = turn(state); /* at once, as it is told to stop */
                nanosleep(&moment, NULL);
        }
        return err < 0 ? err : 1;
}

int wire_run(const struct wire *wire)
{
        struct state *state = calloc(1, sizeof(*state));
        const struct sched_param first = { .sched_priority = 1 };
        int err = state ? 0 : -ENOMEM;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_TIMERSLACK, 1);
        /* Where the user may: packets come in time. */
        (void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first);
        if (!err) {
                state->wire = wire;
                err = relay_new(&(struct relay_plan){ wire->maker, wire->middle_tun, wire->outside, received,
                                                      state, wire->slow },
                                &state->relay);
        }
        if (!err)
                err = shaper_new(&wire->plan, &state->shaper);
        while (!err)
                err = turn(state);
        if (err == 1)
                err = send_rest(state);
        if (err == 1) {
                shaper_end(state->shaper);
                err = write_log(state) < 0 ? -EIO : 1;
        }
        if (state) {
                struct inside *inside, *next;

                HASH_ITER(hh, state->inside, inside, next) {
                        HASH_DEL(state->inside, inside);
                        free(inside);
                }
                relay_free(state->relay);
                shaper_free(state->shaper);
                free(state);
        }
        return err == 1 ? 0 : 1;
}
