/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-login.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <utmpx.h>

#include "interface.h"
#include "util/util.h"

#define PARENTS_MAX 64
#define SOCKETS_MAX 64
#define SSH_PORT 22

struct search {
        int root_fd;
        const char *interface;
        bool known;   /* a login's remote address was found */
        bool unknown; /* a login was found without its remote address */
        bool over;    /* a login goes over the interface */
        unsigned long sockets[SOCKETS_MAX]; /* inodes of the sockets of login servers among our ancestors */
        size_t n_sockets;
};

/* ---- where a login goes ---- */

static void judge(struct search *search, const struct connection *connection)
{
        const struct address *near = connection->near.family ? &connection->near : NULL;
        char name[IF_NAMESIZE];
        unsigned index;
        int err;

        search->known = true;
        if (route_address_is_link_local(&connection->far) && !connection->far.scope) {
                search->over = true; /* on any link: which one is not known here */
                return;
        }
        err = route_lookup(&connection->far, near, &index);
        if (err == -ENETUNREACH || err == -EHOSTUNREACH)
                return; /* already cut off */
        if (err || !if_indextoname(index, name))
                search->unknown = true;
        else if (interface_carries(search->root_fd, name, search->interface))
                search->over = true;
}

/* ---- logins ---- */

static bool is_login_server(const char *comm)
{
        static const char *const servers[] = { "sshd", "dropbear", "mosh-server", "in.telnetd",
                                               "xrdp-sesman" };

        for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
                if (strncmp(comm, servers[i], strlen(servers[i])) == 0)
                        return true;
        return false;
}

static void take_sockets(struct search *search, pid_t pid)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char path[64], target[64];
        struct dirent *entry;

        snprintf(path, sizeof(path), "proc/%d/fd", pid);
        dir = util_opendir_at(search->root_fd, path);
        if (!dir)
                return;
        while ((entry = readdir(dir)) && search->n_sockets < SOCKETS_MAX) {
                ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

                target[n < 0 ? 0 : n] = '\0';
                search->n_sockets += sscanf(target, "socket:[%lu]", &search->sockets[search->n_sockets]) == 1;
        }
}

/* sudo removes SSH_CONNECTION from the environment, but the parent processes show the server. */
static bool started_from_login(struct search *search)
{
        pid_t pid = getpid();
        bool found = false;

        for (unsigned i = 0; i < PARENTS_MAX && pid > 1; i++) {
                char path[64], text[512];
                const char *open, *close;
                int parent;

                snprintf(path, sizeof(path), "proc/%d/stat", pid);
                if (util_read_at(search->root_fd, path, text, sizeof(text)) < 0)
                        break;
                open = strchr(text, '(');
                close = strrchr(text, ')'); /* a program's name may contain one */
                if (!open || !close || sscanf(close + 1, " %*c %d", &parent) != 1)
                        break;
                if (is_login_server(open + 1)) {
                        found = true;
                        take_sockets(search, pid);
                }
                pid = parent;
        }
        return found;
}

/* Logged in at this machine: a virtual console, or one of its displays. */
static bool is_local(const struct utmpx *entry)
{
        return !entry->ut_host[0] || entry->ut_host[0] == ':' || !strncmp(entry->ut_host, "tty", 3) ||
               !strncmp(entry->ut_host, "login screen", 12);
}

/*
 * ut_addr_v6 is in network order, IPv4 in its first word. mosh-server writes "192.0.2.1 via mosh [1234]" as
 * host.
 */
int remote_login_parse_utmp(const struct utmpx *entry, struct address *ret)
{
        bool is_v6 = entry->ut_addr_v6[1] || entry->ut_addr_v6[2] || entry->ut_addr_v6[3];
        char host[sizeof(entry->ut_host) + 1];

        if (entry->ut_type != USER_PROCESS || is_local(entry))
                return -ENOENT;
        *ret = (struct address){ .family = is_v6 ? AF_INET6 : AF_INET };
        memcpy(ret->bytes, entry->ut_addr_v6, ret->family == AF_INET ? 4 : 16);
        route_address_unmap(ret);
        if (entry->ut_addr_v6[0] || ret->family == AF_INET6)
                return 0;
        snprintf(host, sizeof(host), "%.*s", (int)sizeof(entry->ut_host), entry->ut_host);
        host[strcspn(host, " ")] = '\0';
        return route_address_parse(host, ret);
}

static void logged_in_from_elsewhere(struct search *search)
{
        struct utmpx *entry;

        setutxent();
        while ((entry = getutxent())) {
                struct connection connection = { 0 };
                int err = remote_login_parse_utmp(entry, &connection.far);

                if (err == -EINVAL)
                        search->unknown = true;
                else if (!err && !route_address_is_loopback(&connection.far))
                        judge(search, &connection);
        }
        endutxent();
}

/* Words of eight hex digits, each in host byte order. */
static int parse_hex(const char *text, struct address *ret)
{
        size_t length = strlen(text);

        if (length != 8 && length != 32)
                return -EINVAL;
        *ret = (struct address){ .family = length == 8 ? AF_INET : AF_INET6 };
        for (size_t i = 0; i < length / 8; i++) {
                uint32_t word;

                if (sscanf(text + 8 * i, "%8" SCNx32, &word) != 1)
                        return -EINVAL;
                memcpy(ret->bytes + 4 * i, &word, sizeof(word));
        }
        route_address_unmap(ret);
        return 0;
}

#define ESTABLISHED 1

int remote_login_parse_connection(const char *line, struct connection *ret)
{
        char near[40], far[40];
        unsigned state;

        *ret = (struct connection){ 0 };
        if (sscanf(line, " %*u: %39[0-9A-F]:%4x %39[0-9A-F]:%*4x %2x %*s %*s %*s %*u %*u %lu", near,
                   &ret->near_port, far, &state, &ret->inode) < 4 ||
            state != ESTABLISHED || parse_hex(near, &ret->near) < 0 || parse_hex(far, &ret->far) < 0)
                return -EINVAL;
        return route_address_is_loopback(&ret->far) ? -EINVAL : 0;
}

int remote_login_parse_ssh(const char *text, struct connection *ret)
{
        char far[64], near[64];

        *ret = (struct connection){ 0 };
        if (sscanf(text, "%63s %*u %63s %u", far, near, &ret->near_port) != 3 ||
            route_address_parse(far, &ret->far) < 0)
                return -EINVAL;
        if (route_address_parse(near, &ret->near) < 0)
                ret->near = (struct address){ 0 };
        return 0;
}

static bool is_login(const struct search *search, const struct connection *connection)
{
        for (size_t i = 0; i < search->n_sockets; i++)
                if (search->sockets[i] == connection->inode)
                        return true;
        return connection->near_port == SSH_PORT;
}

static void connections(struct search *search, const char *path)
{
        int fd = openat(search->root_fd, path, O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
        struct connection connection;
        char line[512];

        if (!file)
                closep(&fd);
        while (file && fgets(line, sizeof(line), file)) /* there may be thousands of lines */
                if (remote_login_parse_connection(line, &connection) == 0 && is_login(search, &connection))
                        judge(search, &connection);
}

static void environment(struct search *search)
{
        const char *text = getenv("SSH_CONNECTION");
        struct connection connection;

        if (text && remote_login_parse_ssh(text, &connection) < 0)
                search->unknown = true;
        else if (text && !route_address_is_loopback(&connection.far))
                judge(search, &connection);
}

bool remote_login_over(int root_fd, const char *interface)
{
        struct search search = { .root_fd = root_fd, .interface = interface };
        bool started;

        environment(&search);
        started = started_from_login(&search);
        connections(&search, "proc/net/tcp");
        connections(&search, "proc/net/tcp6");
        logged_in_from_elsewhere(&search);
        if (started && !search.known)
                search.unknown = true;
        return search.over || (search.unknown && route_is_default(root_fd, interface));
}
