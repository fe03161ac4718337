/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-login.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <utmpx.h>

#include "util.h"

#define TEXT_MAX (256 << 10)
#define PARENTS_MAX 64
#define SSH_PORT 22

/* ---- logins ---- */

static bool is_login_server(const char *comm)
{
        static const char *const servers[] = { "sshd", "dropbear", "mosh-server", "in.telnetd", "xrdp-sesman" };

        for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
                if (strncmp(comm, servers[i], strlen(servers[i])) == 0)
                        return true;
        return false;
}

/* sudo takes SSH_CONNECTION out of the environment; the parents stay. */
static bool started_from_login(int root_fd)
{
        pid_t pid = getpid();

        for (unsigned i = 0; i < PARENTS_MAX && pid > 1; i++) {
                char path[64], text[512];
                const char *open, *close;
                int parent;

                snprintf(path, sizeof(path), "proc/%d/stat", pid);
                if (util_read_at(root_fd, path, text, sizeof(text)) < 0)
                        return false;
                open = strchr(text, '(');
                close = strrchr(text, ')'); /* a program's name may hold one */
                if (!open || !close || sscanf(close + 1, " %*c %d", &parent) != 1)
                        return false;
                if (is_login_server(open + 1))
                        return true;
                pid = parent;
        }
        return false;
}

/* A host in utmp that is not a display of this machine. */
static bool logged_in_from_elsewhere(void)
{
        struct utmpx *entry;
        bool found = false;

        setutxent();
        while (!found && (entry = getutxent()))
                found = entry->ut_type == USER_PROCESS && entry->ut_host[0] && entry->ut_host[0] != ':' &&
                        strncmp(entry->ut_host, "tty", 3) && strncmp(entry->ut_host, "login screen", 12);
        endutxent();
        return found;
}

/* Addresses are hex: 127.0.0.0/8 ends in 7F, being little-endian; ::1 and ::ffff:127.x alike in four words. */
static bool is_loopback(const char *address)
{
        size_t length = strlen(address);

        return (length == 8 && strcmp(address + 6, "7F") == 0) || strcmp(address, "00000000000000000000000001000000") == 0 ||
               (length == 32 && strncmp(address, "0000000000000000FFFF0000", 24) == 0 && strcmp(address + 30, "7F") == 0);
}

bool is_login_connection(const char *line)
{
        char local[40], remote[40];
        unsigned local_port, remote_port, state;

        if (sscanf(line, " %*u: %39[0-9A-F]:%4x %39[0-9A-F]:%4x %2x", local, &local_port, remote, &remote_port,
                   &state) != 5)
                return false;
        return local_port == SSH_PORT && state == 1 && !is_loopback(remote);
}

static bool has_connection(int root_fd, const char *path)
{
        _cleanup_free_ char *text = malloc(TEXT_MAX);
        char *state = NULL;

        if (!text || util_read_at(root_fd, path, text, TEXT_MAX) < 0)
                return false;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
                if (is_login_connection(line))
                        return true;
        return false;
}

bool remote_login(int root_fd)
{
        return getenv("SSH_CONNECTION") || started_from_login(root_fd) || logged_in_from_elsewhere() ||
               has_connection(root_fd, "proc/net/tcp") || has_connection(root_fd, "proc/net/tcp6");
}

/* ---- the default route ---- */

int default_route_parse(const char *text, char *interface, size_t size)
{
        unsigned best = 0;
        int err = -ENOENT;

        for (const char *line = text; line && *line; line = strchr(line, '\n')) {
                unsigned destination, flags, metric, mask;
                char name[32];

                line += strspn(line, "\n");
                /* Iface Destination Gateway Flags RefCnt Use Metric Mask */
                if (sscanf(line, "%31s %8x %*x %4x %*u %*u %u %8x", name, &destination, &flags, &metric, &mask) != 5)
                        continue;
                if (destination || mask || !(flags & 1) || (!err && metric >= best) || strlen(name) >= size)
                        continue;
                strcpy(interface, name);
                best = metric;
                err = 0;
        }
        return err;
}

/* ...address prefix-length source prefix-length next-hop metric refcount use flags interface, all hex. */
static int default_route6(int root_fd, char *interface, size_t size)
{
        _cleanup_free_ char *text = malloc(TEXT_MAX);
        char *state = NULL;
        unsigned best = 0;
        int err = -ENOENT;

        if (!text)
                return -ENOMEM;
        if (util_read_at(root_fd, "proc/net/ipv6_route", text, TEXT_MAX) < 0)
                return -ENOENT;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                unsigned length, metric, flags;
                char name[32];

                if (sscanf(line, "%*32s %2x %*32s %*2x %*32s %8x %*8x %*8x %8x %31s", &length, &metric, &flags, name) != 4)
                        continue;
                if (length || !(flags & 1) || !strcmp(name, "lo") || (!err && metric >= best) || strlen(name) >= size)
                        continue;
                strcpy(interface, name);
                best = metric;
                err = 0;
        }
        return err;
}

int default_route(int root_fd, char *interface, size_t size)
{
        _cleanup_free_ char *text = malloc(TEXT_MAX);
        int err = -ENOENT;

        if (!text)
                return -ENOMEM;
        if (util_read_at(root_fd, "proc/net/route", text, TEXT_MAX) > 0)
                err = default_route_parse(text, interface, size);
        return err ? default_route6(root_fd, interface, size) : 0;
}
