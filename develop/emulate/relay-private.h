/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parts of a relay, which relay.c, relay-tcp.c and relay-udp.c share. */

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "packet.h"
#include "relay.h"

#define RELAY_CONNECTIONS_MAX 512
#define RELAY_FLOWS_MAX 512
#define RELAY_HOSTS_MAX 4096
#define RELAY_BUFFER 65536
#define RELAY_AT_ONCE 32 /* datagrams received by one call */
#define RELAY_OPEN_S 75  /* a connection that the app does not complete is closed after this time */
#define RELAY_IDLE_S 120 /* a UDP flow without packets is closed after this time */

enum connection_state {
        CONNECTION_ASKED,  /* the machine's side connects, and the app's SYN waits */
        CONNECTION_OPENED, /* the machine's side is connected, and the app's side connects */
        CONNECTION_JOINED,
        CONNECTION_OVER,   /* to be freed */
};

/* One side of a connection or flow, or a listener; epoll's events point to it. */
struct end {
        enum { END_LISTENER, END_CONNECTION, END_FLOW } kind;
        int side;       /* SIDE_APP or SIDE_HOST */
        int fd;         /* -1: none */
        uint32_t events; /* events that epoll waits for */
        void *owner;
        int epoll; /* the epoll instance that watches it, once relay_watch() was called */
        bool watched;
};

enum { SIDE_APP, SIDE_HOST, SIDES };

/* Bytes from the side of that index to the other one. */
struct stream {
        uint8_t *bytes;
        size_t start, end;
        bool ended, told; /* ended: nothing more comes; told: the other side was told so */
};

struct connection {
        struct end ends[SIDES];
        struct stream streams[SIDES];
        struct packet_flow flow; /* addresses and ports of the app's packets in the middle */
        enum connection_state state;
        double since_s;
        uint8_t *syn;
        size_t syn_length;
        double learnt_s;     /* when its round trip was read last; 0: never */
        double came_s;       /* when bytes last came from the machine's side; 0: none came since the app sent some */
        double blocked_s;    /* since when bytes wait for the machine's side to take them; 0: none do */
        bool early;          /* its SYN was sent before the delay of this machine's network was known */
};

/* A listening socket of an address for which connections are being opened. */
struct listener {
        struct end end;
        uint32_t address;
        uint16_t port;
        size_t users;    /* 0: the place is free */
};

/* A peer on this machine's network to which a TCP connection was made. */
struct host {
        uint32_t address;
        uint32_t owed;       /* connections from whose SYN no delay was subtracted, as it was not known yet */
        int64_t round_ns;    /* the least round trip seen */
        UT_hash_handle hh;
};

struct flow {
        struct end ends[SIDES];
        struct packet_flow flow;
        double used_s;
        bool over;
};

/*
 * Datagrams of one flow of the same length (the last one may be shorter), which the kernel takes in one call.
 */
struct bundle {
        struct flow *flow; /* NULL: there are no datagrams */
        size_t each, n, length;
        uint8_t bytes[PACKET_MAX];
};

struct relay {
        struct relay_plan plan;
        int epoll;
        bool maker_gone;
        struct connection *connections[RELAY_CONNECTIONS_MAX];
        size_t n_connections;
        struct listener listeners[RELAY_CONNECTIONS_MAX];
        struct flow *flows[RELAY_FLOWS_MAX];
        size_t n_flows;
        struct host *hosts;
        struct bundle bundle;
        uint8_t datagrams[RELAY_AT_ONCE][PACKET_MAX]; /* received datagrams, each after room for its headers */
};

double relay_now_s(void);
/* A socket of the machine's network that begins to connect to where the flow goes. -1: there is none. */
int relay_connect(struct relay *relay, const struct packet_flow *flow, int type);
/* Watches an end for those events. 0 or a negative errno. */
int relay_watch(struct relay *relay, struct end *end, uint32_t events);
void relay_close(struct end *end);
bool relay_same_flow(const struct packet_flow *a, const struct packet_flow *b);

/* True: the packet may go to the middle now. */
bool tcp_packet(struct relay *relay, const struct packet_flow *flow, const uint8_t *bytes, size_t length);
void tcp_ready(struct relay *relay, struct end *end, uint32_t events);

/* Finds a peer. NULL: its delay is not known. */
struct host *host_find(const struct relay *relay, uint32_t address);
/* Learns the round trip to a peer from the kernel, when a connection was made or received bytes. */
void host_learn(struct relay *relay, struct connection *connection);
void host_forget(struct relay *relay);
/* Counts slow times; to be called when bytes of the app or its peer (@side) are there, before they are read. */
void host_slow_before(struct relay *relay, struct connection *connection, int side);
/* Counts slow times; to be called after the sockets were read and written. */
void host_slow_after(struct relay *relay, struct connection *connection);

void tcp_tidy(struct relay *relay, bool all); /* frees what is over, or @all */

bool udp_packet(struct relay *relay, const struct packet_flow *flow, const uint8_t *bytes, size_t length);
void udp_flush(struct relay *relay);
void udp_ready(struct relay *relay, struct end *end);
void udp_tidy(struct relay *relay, bool all);
