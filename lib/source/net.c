/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bytes by interface. By sysfs (Documentation/ABI/testing/sysfs-class-net), WiFi interfaces have `wireless` or
 * `phy80211`, hardware has `device`. A modem's device type is "wwan" (drivers/net/wwan/wwan_core.c, and FLAG_WWAN of
 * drivers/net/usb/usbnet.c), or it has IP packets without any header of a link (ARPHRD_RAWIP: drivers/net/ipa). PPP
 * over a modem's serial line is like any other PPP, and has no `device`. Without sysfs, names decide.
 */

#include "net.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"
#include "wifi-signal.h"

#define NET_DEV_MAX (128 << 10)
#define ARPHRD_RAWIP "519\n" /* include/uapi/linux/if_arp.h */

bool net_parse_line(const char *line, struct net_line *ret)
{
        struct net_line parsed = { 0 };
        unsigned long long rx, tx;
        const char *colon = strrchr(line, ':'); /* the name of an alias has a colon */

        line += strspn(line, " ");
        if (!colon || colon == line || colon - line >= (long)sizeof(parsed.name))
                return false;
        memcpy(parsed.name, line, (size_t)(colon - line));
        if (strpbrk(parsed.name, "/ |") || strcmp(parsed.name, "..") == 0 || strcmp(parsed.name, ".") == 0 ||
            sscanf(colon + 1, " %20llu %*u %*u %*u %*u %*u %*u %*u %20llu", &rx, &tx) != 2)
                return false;
        if (rx > UINT64_MAX >> 8 || tx > UINT64_MAX >> 8)
                return false;
        parsed.rx_bytes = rx;
        parsed.tx_bytes = tx;
        *ret = parsed;
        return true;
}

static bool has(int root_fd, const char *name, const char *attribute)
{
        char path[96];

        snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, attribute);
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_modem(int root_fd, const char *name)
{
        char path[96], text[512];

        snprintf(path, sizeof(path), "sys/class/net/%s/uevent", name);
        if (util_read_at(root_fd, path, text, sizeof(text)) > 0 && strstr(text, "DEVTYPE=wwan\n"))
                return true;
        snprintf(path, sizeof(path), "sys/class/net/%s/type", name);
        return util_read_at(root_fd, path, text, sizeof(text)) > 0 && strcmp(text, ARPHRD_RAWIP) == 0;
}

enum net_kind net_kind_of(int root_fd, const char *name)
{
        if (strcmp(name, "lo") == 0)
                return NET_VIRTUAL;
        if (!has(root_fd, name, "."))
                return strncmp(name, "wl", 2) == 0 ? NET_WIFI : NET_OTHER;
        if (has(root_fd, name, "wireless") || has(root_fd, name, "phy80211"))
                return NET_WIFI;
        if (!has(root_fd, name, "device"))
                return NET_VIRTUAL;
        return is_modem(root_fd, name) ? NET_CELLULAR : NET_OTHER;
}

enum net_kind net_kind_of_packets(int root_fd, const char *name)
{
        enum net_kind kind = net_kind_of(root_fd, name);
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        char path[96];
        size_t n = 0;

        snprintf(path, sizeof(path), "sys/class/net/%s", name);
        if (kind == NET_VIRTUAL)
                dir = util_opendir_at(root_fd, path);
        while (dir && (entry = readdir(dir)))
                if (strncmp(entry->d_name, "lower_", 6) == 0 && n++ == 0)
                        kind = net_kind_of(root_fd, entry->d_name + 6);
        return n > 1 ? NET_VIRTUAL : kind;
}

bool net_is_up(int root_fd, const char *name)
{
        char path[96], state[32];

        snprintf(path, sizeof(path), "sys/class/net/%s/operstate", name);
        return util_read_at(root_fd, path, state, sizeof(state)) > 0 && strncmp(state, "up", 2) == 0;
}

struct net_source {
        struct source source;
        int root_fd;
        char *text;
        bool real; /* its interfaces are the kernel's, which can be asked */
        struct wifi_signal signal;
};

static int ask_signal(struct net_source *self, const char *name, int32_t *dbm)
{
        char path[96], text[16];
        uint64_t index;

        snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", name);
        if (!self->real || util_read_at(self->root_fd, path, text, sizeof(text)) <= 0 ||
            util_parse_u64(text, &index) < 0 || index > INT32_MAX)
                return -ENOENT;
        return wifi_signal_ask(&self->signal, (uint32_t)index, dbm);
}

static int look_up_signal(const struct net_source *self, const char *name, int32_t *dbm)
{
        char text[4096], *state = NULL;

        if (util_read_at(self->root_fd, "proc/net/wireless", text, sizeof(text)) <= 0)
                return -ENODATA;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
                if (wifi_signal_parse_line(line, name, dbm))
                        return 0;
        return -ENODATA;
}

/* Of the first interface that has one. */
static void read_signal(struct net_source *self, const char *name, struct sample *sample)
{
        int32_t dbm;
        int err;

        if (sample->signal.have & SIGNAL_WIFI)
                return;
        err = ask_signal(self, name, &dbm);
        if (err && err != -ENODATA)
                err = look_up_signal(self, name, &dbm);
        if (err)
                return;
        sample->signal.have |= SIGNAL_WIFI;
        sample->signal.wifi_signal_dbm = dbm;
}

static void add_wifi(struct net_source *self, const struct net_line *line, struct sample *sample)
{
        sample->wifi_rx_bytes += line->rx_bytes;
        sample->wifi_tx_bytes += line->tx_bytes;
        if (!net_is_up(self->root_fd, line->name))
                return;
        sample->wifi_on = true;
        read_signal(self, line->name, sample);
}

static void add_interface(struct net_source *self, const struct net_line *line, struct sample *sample)
{
        switch (net_kind_of(self->root_fd, line->name)) {
        case NET_VIRTUAL:
                break;
        case NET_WIFI:
                add_wifi(self, line, sample);
                break;
        case NET_CELLULAR:
        case NET_OTHER:
                sample->other_rx_bytes += line->rx_bytes;
                sample->other_tx_bytes += line->tx_bytes;
                break;
        }
}

/* Without WiFi its bytes are known, and 0. */
static int net_read(struct source *source, struct sample *sample)
{
        struct net_source *self = (struct net_source *)source;
        ssize_t n = util_read_at(self->root_fd, "proc/net/dev", self->text, NET_DEV_MAX);
        char *state = NULL;

        if (n < 0)
                return (int)n;
        for (char *line = strtok_r(self->text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                struct net_line parsed;

                if (net_parse_line(line, &parsed))
                        add_interface(self, &parsed, sample);
        }
        sample->have |= USAGE_WIFI | USAGE_OTHER_NET;
        return 0;
}

static void net_close(struct source *source)
{
        struct net_source *self = (struct net_source *)source;

        closep(&self->root_fd);
        wifi_signal_close(&self->signal);
        free(self->text);
        free(self);
}

static const struct source_ops net_ops = { "net", net_read, net_close };

int net_open(int root_fd, struct source **ret)
{
        _cleanup_close_ int proc_fd = -1;
        struct net_source *self;

        if (faccessat(root_fd, "proc/net/dev", R_OK, 0) < 0)
                return -ENODEV;
        self = calloc(1, sizeof(*self));
        if (!self)
                return -ENOMEM;
        self->source.ops = &net_ops;
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        self->signal.fd = -1;
        self->text = malloc(NET_DEV_MAX);
        if (self->root_fd < 0 || !self->text) {
                int err = self->text ? -errno : -ENOMEM;

                net_close(&self->source);
                return err;
        }
        proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        self->real = util_is_procfs(proc_fd);
        *ret = &self->source;
        return 0;
}
