/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Network bytes by process without BPF: the kernel has totals of each TCP socket, and /proc/PID/fd shows the
 * socket's owner. Read it after a collector that counts no network bytes.
 *
 * Limits: UDP has no totals, a connection between two polls is never seen, the last part of an ended
 * connection is lost, and there are no bursts. Bytes missed here are unattributed, by the interface's total.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "collector.h"
#include "inet-diag.h"
#include "net-tunnel.h"
#include "source/net.h"
#include "source/proc.h"
#include "util/util.h"

#define MOST_WAITS 64 /* most polls to wait before an unknown owner is searched again */

enum socket_kind { KIND_UNKNOWN, KIND_LOOPBACK, KIND_WIFI, KIND_OTHER };

struct tracked {
        struct inet_socket now;
        uint64_t sent, received; /* attributed so far, or older than the service */
        enum socket_kind kind;
        pid_t pid;               /* 0: unknown */
        uint64_t start_time;
        uint32_t waits, waited;  /* polls until the next search for its owner, and polls waited so far */
};

struct owner {
        pid_t pid;
        uint64_t start_time;
        uint64_t rx_bytes[2], tx_bytes[2]; /* WiFi, other */
};

struct net_process {
        struct source source;
        int root_fd, diag_fd;
        char *wifi_for_test;
        /* interfaces at this poll, read when first needed; the same holds for tunnels */
        struct ifaddrs *interfaces;
        struct net_tunnels tunnels;
        bool asked_tunnels;
        bool started;
        struct tracked *list, *next; /* ascending by cookie */
        size_t n, capacity, n_next, next_capacity;
        struct tracked **by_inode;   /* the same entries by inode, while owners are searched */
        size_t by_inode_capacity;
        struct owner *owners;        /* ascending by pid */
        size_t n_owners, owners_capacity;
};

static void map_address(const struct sockaddr *from, uint8_t *to)
{
        memset(to, 0, 16);
        if (from->sa_family == AF_INET6) {
                memcpy(to, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
        } else if (from->sa_family == AF_INET) {
                to[10] = to[11] = 0xff;
                memcpy(to + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
        }
}

/* Name of the interface that has this address, or NULL. */
static const char *interface_of(struct net_process *self, const uint8_t *address)
{
        if (!self->interfaces && getifaddrs(&self->interfaces) < 0)
                return NULL;
        if (!self->asked_tunnels)
                (void)net_tunnels_find(self->wifi_for_test ? (int)if_nametoindex(self->wifi_for_test) : 0,
                                       &self->tunnels);
        self->asked_tunnels = true;
        for (const struct ifaddrs *at = self->interfaces; at; at = at->ifa_next) {
                uint8_t own[16];

                if (!at->ifa_addr ||
                    (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6))
                        continue;
                map_address(at->ifa_addr, own);
                if (memcmp(own, address, sizeof(own)) == 0)
                        return at->ifa_name;
        }
        return NULL;
}

/* A connection to one of the machine's own addresses never leaves it. */
static enum socket_kind kind_of(struct net_process *self, const struct inet_socket *socket)
{
        char bound[IFNAMSIZ];
        const char *name;

        if (inet_is_loopback(socket->there) || inet_is_loopback(socket->here) ||
            interface_of(self, socket->there))
                return KIND_LOOPBACK;
        name = socket->interface && if_indextoname(socket->interface, bound) ? bound : interface_of(self, socket->here);
        /* Packets of a VPN leave over its uplink. */
        if (name && net_tunnels_get(&self->tunnels, (int)if_nametoindex(name)))
                name = if_indextoname((unsigned)self->tunnels.uplink, bound);
        if (!name)
                return KIND_OTHER;
        if (self->wifi_for_test && strcmp(name, self->wifi_for_test) == 0)
                return KIND_WIFI;
        return net_kind_of(self->root_fd, name) == NET_WIFI ? KIND_WIFI : KIND_OTHER;
}

static int add_socket(void *data, const struct inet_socket *socket)
{
        struct net_process *self = data;

        if (util_grow(&self->next, &self->next_capacity, self->n_next + 1, sizeof(*self->next)) < 0)
                return -ENOMEM;
        self->next[self->n_next++] = (struct tracked){ .now = *socket };
        return 0;
}

static int compare_cookies(const void *a, const void *b)
{
        const struct tracked *one = a, *other = b;

        return one->now.cookie < other->now.cookie ? -1 : one->now.cookie > other->now.cookie;
}

/*
 * Takes over known sockets from the previous poll. Bytes from before the first poll are attributed to no
 * process.
 */
static void remember(struct net_process *self)
{
        size_t old = 0;

        for (size_t i = 0; i < self->n_next; i++) {
                struct tracked *socket = &self->next[i];

                while (old < self->n && self->list[old].now.cookie < socket->now.cookie)
                        old++;
                if (old < self->n && self->list[old].now.cookie == socket->now.cookie) {
                        struct inet_socket now = socket->now;

                        *socket = self->list[old];
                        socket->now = now;
                } else if (!self->started) {
                        socket->sent = socket->now.sent;
                        socket->received = socket->now.received;
                }
        }
}

static int list_sockets(struct net_process *self)
{
        struct tracked *list = self->list;
        size_t capacity = self->capacity;
        int err;

        self->n_next = 0;
        err = inet_diag_list(self->diag_fd, add_socket, self);
        if (err)
                return err;
        if (self->n_next > 1)
                qsort(self->next, self->n_next, sizeof(*self->next), compare_cookies);
        remember(self);
        self->list = self->next;
        self->n = self->n_next;
        self->capacity = self->next_capacity;
        self->next = list;
        self->next_capacity = capacity;
        self->started = true;
        return 0;
}

static int compare_process(const void *pid, const void *element)
{
        pid_t one = *(const pid_t *)pid, other = ((const struct process *)element)->pid;

        return one < other ? -1 : one > other;
}

/* Index of the first process with this pid, or the index at which it would be inserted. */
static size_t find_pid(const struct sample *sample, pid_t pid)
{
        return util_lower_bound(&pid, sample->processes, sample->n_processes, sizeof(*sample->processes),
                                compare_process);
}

/* A process missing from a partial sample is alive and unchanged, unless it is in `gone`. */
static bool is_there(const struct sample *sample, pid_t pid, uint64_t start_time)
{
        for (size_t i = find_pid(sample, pid); i < sample->n_processes && sample->processes[i].pid == pid; i++)
                if (sample->processes[i].start_time == start_time)
                        return sample->processes[i].ended_ns == 0;
        for (size_t i = 0; sample->partial && i < sample->n_gone; i++)
                if (sample->gone[i].pid == pid && sample->gone[i].start_time == start_time)
                        return false;
        return sample->partial;
}

static bool has_news(const struct tracked *socket)
{
        return socket->now.sent > socket->sent || socket->now.received > socket->received;
}

/* Number of sockets with new bytes whose owner is unknown or gone. */
static size_t count_strays(struct net_process *self, const struct sample *sample)
{
        size_t n = 0;

        for (size_t i = 0; i < self->n; i++) {
                struct tracked *socket = &self->list[i];

                if (socket->pid && !is_there(sample, socket->pid, socket->start_time))
                        socket->pid = 0;
                if (socket->kind == KIND_UNKNOWN)
                        socket->kind = kind_of(self, &socket->now);
                if (socket->pid || socket->now.inode == 0 || socket->kind == KIND_LOOPBACK ||
                    !has_news(socket))
                        continue;
                n += socket->waited++ >= socket->waits;
        }
        return n;
}

static int compare_inodes(const void *a, const void *b)
{
        const struct tracked *one = *(struct tracked *const *)a, *other = *(struct tracked *const *)b;

        return one->now.inode < other->now.inode ? -1 : one->now.inode > other->now.inode;
}

/* Sorted, since any user may open tens of thousands of sockets and a linear search would be slow. */
static int sort_by_inode(struct net_process *self)
{
        if (util_grow(&self->by_inode, &self->by_inode_capacity, self->n, sizeof(struct tracked *)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < self->n; i++)
                self->by_inode[i] = &self->list[i];
        if (self->n > 1)
                qsort(self->by_inode, self->n, sizeof(struct tracked *), compare_inodes);
        return 0;
}

static struct tracked *find_inode(const struct net_process *self, uint64_t inode)
{
        struct tracked *key = &(struct tracked){ .now.inode = (uint32_t)inode }, **found = NULL;

        if (inode > 0 && inode <= UINT32_MAX && self->n > 0)
                found = bsearch(&key, self->by_inode, self->n, sizeof(struct tracked *), compare_inodes);
        return found ? *found : NULL;
}

/* A VPN program sends the apps' bytes a second time, so its bytes are left to the base. */
static void leave_out(struct net_process *self, pid_t pid)
{
        for (size_t i = 0; i < self->n; i++)
                if (self->list[i].pid == pid)
                        self->list[i].kind = KIND_LOOPBACK;
}

static bool has_carried_tunnel(const struct net_process *self)
{
        for (size_t i = 0; i < self->tunnels.n; i++)
                if (self->tunnels.list[i].carried)
                        return true;
        return false;
}

/* Attributes the sockets of @process to it. A socket in several processes belongs to the first one. */
static void claim(struct net_process *self, const struct process *process)
{
        _cleanup_closedir_ DIR *dir = NULL;
        bool is_carrier = false;
        char path[32];
        struct dirent *entry;

        snprintf(path, sizeof(path), "proc/%d/fd", (int)process->pid);
        dir = util_opendir_at(self->root_fd, path);
        if (!dir)
                return; /* the process is gone, or it is another user's and we are not root */
        while ((entry = readdir(dir))) {
                char target[64];
                ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
                unsigned long long inode;
                struct tracked *socket;

                target[MAX(length, (ssize_t)0)] = '\0';
                is_carrier = is_carrier || strcmp(target, "/dev/net/tun") == 0;
                if (sscanf(target, "socket:[%20llu]", &inode) != 1)
                        continue;
                socket = find_inode(self, inode);
                if (!socket || socket->pid)
                        continue;
                socket->pid = process->pid;
                socket->start_time = process->start_time;
        }
        if (is_carrier && has_carried_tunnel(self))
                leave_out(self, process->pid);
}

/*
 * Reads all of /proc/PID/fd, which costs more than everything else; done only if a socket of unknown owner
 * has new bytes.
 */
static int find_owners(struct net_process *self, const struct sample *sample)
{
        int err = sort_by_inode(self);

        for (size_t i = 0; !err && i < sample->n_processes; i++)
                if (sample->processes[i].ended_ns == 0)
                        claim(self, &sample->processes[i]);
        for (size_t i = 0; i < self->n; i++) {
                struct tracked *socket = &self->list[i];

                socket->waited = 0;
                socket->waits = socket->pid ? 0 : MIN(MAX(2 * socket->waits, 1u), (uint32_t)MOST_WAITS);
        }
        return err;
}

static int compare_owner(const void *pid, const void *element)
{
        pid_t one = *(const pid_t *)pid, other = ((const struct owner *)element)->pid;

        return one < other ? -1 : one > other;
}

/* Index of @pid, or the index at which it would be inserted. */
static size_t place_of(const struct net_process *self, pid_t pid)
{
        return util_lower_bound(&pid, self->owners, self->n_owners, sizeof(*self->owners), compare_owner);
}

static struct owner *owner_of(struct net_process *self, pid_t pid, uint64_t start_time)
{
        size_t at = place_of(self, pid);
        struct owner *owner = self->owners ? &self->owners[at] : NULL;

        if (at == self->n_owners || owner->pid != pid) {
                if (util_grow(&self->owners, &self->owners_capacity, self->n_owners + 1, sizeof(*owner)) < 0)
                        return NULL;
                owner = &self->owners[at];
                memmove(owner + 1, owner, (self->n_owners - at) * sizeof(*owner));
                self->n_owners++;
                *owner = (struct owner){ .pid = pid, .start_time = start_time };
        } else if (owner->start_time != start_time) {
                *owner = (struct owner){ .pid = pid, .start_time = start_time };
        }
        return owner;
}

static int give_to_owners(struct net_process *self)
{
        for (size_t i = 0; i < self->n; i++) {
                struct tracked *socket = &self->list[i];
                struct owner *owner;

                if (socket->pid == 0 || socket->kind == KIND_LOOPBACK || !has_news(socket))
                        continue;
                owner = owner_of(self, socket->pid, socket->start_time);
                if (!owner)
                        return -ENOMEM;
                owner->tx_bytes[socket->kind == KIND_OTHER] += socket->now.sent -
                                                               MIN(socket->sent, socket->now.sent);
                owner->rx_bytes[socket->kind == KIND_OTHER] += socket->now.received -
                                                               MIN(socket->received, socket->now.received);
                socket->sent = MAX(socket->sent, socket->now.sent);
                socket->received = MAX(socket->received, socket->now.received);
        }
        return 0;
}

static void fill(struct net_process *self, struct process *process)
{
        size_t at = place_of(self, process->pid);
        const struct owner *owner = at < self->n_owners ? &self->owners[at] : NULL;

        process->have |= USAGE_WIFI | USAGE_OTHER_NET;
        process->wifi_rx_bytes = process->wifi_tx_bytes = process->other_rx_bytes = process->other_tx_bytes = 0;
        if (!owner || owner->pid != process->pid || owner->start_time != process->start_time)
                return;
        process->wifi_rx_bytes = owner->rx_bytes[0];
        process->wifi_tx_bytes = owner->tx_bytes[0];
        process->other_rx_bytes = owner->rx_bytes[1];
        process->other_tx_bytes = owner->tx_bytes[1];
}

static void forget_gone(struct net_process *self, const struct sample *sample)
{
        size_t kept = 0;

        for (size_t i = 0; i < self->n_owners; i++)
                if (is_there(sample, self->owners[i].pid, self->owners[i].start_time))
                        self->owners[kept++] = self->owners[i];
        self->n_owners = kept;
}

static int net_process_read(struct source *source, struct sample *sample)
{
        struct net_process *self = (struct net_process *)source;
        int err = sample->have & SAMPLE_PROCESSES ? list_sockets(self) : -ENODATA;

        if (err)
                return err;
        if (count_strays(self, sample) > 0)
                err = find_owners(self, sample);
        if (!err)
                err = give_to_owners(self);
        freeifaddrs(self->interfaces);
        self->interfaces = NULL;
        self->asked_tunnels = false;
        if (err)
                return err;
        for (size_t i = 0; i < sample->n_processes; i++)
                fill(self, &sample->processes[i]);
        forget_gone(self, sample);
        return 0;
}

static void net_process_close(struct source *source)
{
        struct net_process *self = (struct net_process *)source;

        closep(&self->root_fd);
        closep(&self->diag_fd);
        free(self->wifi_for_test);
        free(self->list);
        free(self->next);
        free(self->by_inode);
        free(self->owners);
        free(self);
}

static const struct source_ops net_process_ops = { "net-process", net_process_read, net_process_close };

/* The kernel lists this machine's sockets, so they do not belong to a machine tree. */
static bool is_this_machine(int root_fd)
{
        _cleanup_close_ int fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return util_is_procfs(fd);
}

static int set_up(struct net_process *self, int root_fd, const char *wifi_for_test)
{
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (self->root_fd < 0)
                return -errno;
        if (wifi_for_test) {
                self->wifi_for_test = strdup(wifi_for_test);
                if (!self->wifi_for_test)
                        return -ENOMEM;
        }
        self->diag_fd = inet_diag_open();
        if (self->diag_fd < 0)
                return -ENODEV;
        return list_sockets(self) < 0 ? -ENODEV : 0; /* fails if the kernel has no inet_diag */
}

int net_process_open(int root_fd, const char *wifi_for_test, struct source **ret)
{
        struct net_process *self;
        int err;

        if (!is_this_machine(root_fd))
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self)
                return -ENOMEM;
        *self = (struct net_process){ .source = { .ops = &net_process_ops, .counts = COUNTS_NET,
                                                  .net_by = NET_BY_SOCKETS },
                                      .root_fd = -1, .diag_fd = -1 };
        err = set_up(self, root_fd, wifi_for_test);
        if (err) {
                net_process_close(&self->source);
                return err;
        }
        *ret = &self->source;
        return 0;
}
