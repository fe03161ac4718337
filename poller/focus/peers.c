/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Wayland compositors without a protocol for the focus (cage, weston and other kiosks): find the processes that
 * are connected to the compositor's socket. A single client has the focus; among several it is unknown. New
 * clients cause no event, so we look at each poll of the service, and when a known client ends (pidfd). A
 * connection of our own shows when the compositor ends: it closes its descriptors one by one, so for a while its
 * socket exists without clients.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "backend.h"
#include "stream.h"
#include "util/util.h"

#define PEERS_MAX 256
#define TCP_ESTABLISHED_STATE (1u << 1) /* unix sockets use TCP's states */

struct backend {
        struct backend_base base;
        char path[108];
        struct stream stream; /* only to see when the compositor ends */
        ino_t inode;          /* our own end of the connection, which does not count as a client */
        int pidfd;
        pid_t pid; /* the only client; 0: none, -1: several */
        bool looked;
};

struct peers {
        uint32_t inodes[PEERS_MAX];
        size_t n;
};

static void take_socket(const struct backend *backend, struct peers *peers, const struct nlmsghdr *header)
{
        const struct unix_diag_msg *message = NLMSG_DATA(header);
        unsigned length = header->nlmsg_len - (unsigned)NLMSG_LENGTH(sizeof(*message));
        const char *path = backend->path;
        bool ours = false;
        uint32_t peer = 0;

        for (const struct rtattr *at = (const struct rtattr *)(message + 1); RTA_OK(at, length);
             at = RTA_NEXT(at, length)) {
                if (at->rta_type == UNIX_DIAG_NAME)
                        ours = RTA_PAYLOAD(at) >= strlen(path) && RTA_PAYLOAD(at) <= strlen(path) + 1 &&
                               memcmp(RTA_DATA(at), path, strlen(path)) == 0;
                else if (at->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(at) >= sizeof(peer))
                        memcpy(&peer, RTA_DATA(at), sizeof(peer));
        }
        if (ours && peer && peer != backend->inode && peers->n < PEERS_MAX)
                peers->inodes[peers->n++] = peer;
}

/* The inodes of the clients' sockets that are connected to the compositor. */
static int find_inodes(const struct backend *backend, struct peers *peers)
{
        struct {
                struct nlmsghdr header;
                struct unix_diag_req request;
        } ask = {
                .header = { .nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                .request = { .sdiag_family = AF_UNIX, .udiag_states = TCP_ESTABLISHED_STATE,
                             .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER },
        };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        _cleanup_free_ char *bytes = malloc(32768);

        if (!bytes)
                return -ENOMEM;
        if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0)
                return -errno;
        for (;;) {
                ssize_t n = recv(fd, bytes, 32768, 0);
                unsigned left = (unsigned)n;

                if (n <= 0)
                        return -errno;
                for (const struct nlmsghdr *at = (const void *)bytes; NLMSG_OK(at, left);
                     at = NLMSG_NEXT(at, left)) {
                        if (at->nlmsg_type == NLMSG_DONE)
                                return 0;
                        if (at->nlmsg_type == NLMSG_ERROR)
                                return -EOPNOTSUPP;
                        take_socket(backend, peers, at);
                }
        }
}

static bool holds_peer(const struct peers *peers, pid_t pid)
{
        char path[64], target[64];
        const struct dirent *entry;
        bool found = false;
        DIR *dir;

        snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
        dir = opendir(path); /* fails for other users' processes */
        while (dir && !found && (entry = readdir(dir))) {
                ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
                unsigned inode;

                if (n <= 0)
                        continue;
                target[n] = '\0';
                if (sscanf(target, "socket:[%u]", &inode) != 1)
                        continue;
                for (size_t i = 0; i < peers->n; i++)
                        found |= peers->inodes[i] == inode;
        }
        if (dir)
                closedir(dir);
        return found;
}

/* 0: no client; -1: several. */
static pid_t only_client(const struct peers *peers)
{
        DIR *dir = peers->n > 0 ? opendir("/proc") : NULL;
        const struct dirent *entry;
        pid_t only = 0;

        while (dir && (entry = readdir(dir))) {
                pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

                if (pid && pid != getpid() && holds_peer(peers, pid))
                        only = only == 0 ? pid : -1;
        }
        if (dir)
                closedir(dir);
        return only;
}

static void watch_client(struct backend *backend)
{
        struct epoll_event event = { .events = EPOLLIN };

        closep(&backend->pidfd);
        backend->pidfd = backend->pid > 0 ? (int)syscall(SYS_pidfd_open, backend->pid, 0) : -1;
        if (backend->pidfd >= 0)
                epoll_ctl(backend->base.fd, EPOLL_CTL_ADD, backend->pidfd, &event);
}

/* poll() reports POLLHUP without being asked for it. */
static bool is_dead(const struct backend *backend)
{
        struct pollfd wait = { .fd = backend->stream.fd };

        return poll(&wait, 1, 0) > 0;
}

static int look(struct backend *backend)
{
        struct peers peers = { 0 };
        int err = is_dead(backend) ? -ECONNRESET : find_inodes(backend, &peers);
        pid_t pid;

        if (err)
                return err;
        pid = only_client(&peers);
        if (backend->looked && pid == backend->pid)
                return 0;
        backend->looked = true;
        backend->pid = pid;
        watch_client(backend);
        if (pid < 0)
                focus_report_unknown(backend->base.sink);
        else
                focus_report(backend->base.sink, pid, "");
        return 0;
}

static const char *probe_peers(void)
{
        return getenv("WAYLAND_DISPLAY") && getenv("XDG_RUNTIME_DIR") ? NULL : "WAYLAND_DISPLAY is not set";
}

static void stop(struct backend *backend)
{
        closep(&backend->pidfd);
        closep(&backend->base.fd);
        stream_close(&backend->stream);
}

static int connect_stream(struct backend *backend)
{
        struct epoll_event event = { .events = 0 };
        struct stat status;
        int err = stream_connect(&backend->stream, backend->path);

        if (err)
                return err;
        backend->base.fd = epoll_create1(EPOLL_CLOEXEC);
        if (backend->base.fd < 0 || fstat(backend->stream.fd, &status) < 0 ||
            epoll_ctl(backend->base.fd, EPOLL_CTL_ADD, backend->stream.fd, &event) < 0)
                return -errno;
        backend->inode = status.st_ino;
        return 0;
}

static int start(struct backend *backend)
{
        const char *display = getenv("WAYLAND_DISPLAY");
        int err;

        backend->stream = (struct stream)STREAM_CLOSED;
        backend->pidfd = -1;
        snprintf(backend->path, sizeof(backend->path), "%s%s%s",
                 *display == '/' ? "" : getenv("XDG_RUNTIME_DIR"), *display == '/' ? "" : "/", display);
        err = connect_stream(backend);
        return err ? err : look(backend);
}

const struct backend_ops peers_backend = {
        .name = "wayland-clients",
        .size = sizeof(struct backend),
        .probe = probe_peers,
        .start = start,
        .dispatch = look,
        .tick = look,
        .stop = stop,
};
