/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bytes by interface. By sysfs (Documentation/ABI/testing/sysfs-class-net), WiFi interfaces have `wireless` or
 * `phy80211`, hardware has `device`. A modem's device type is "wwan" (drivers/net/wwan/wwan_core.c, and FLAG_WWAN of
 * drivers/net/usb/usbnet.c), or it has IP packets without any header of a link (ARPHRD_RAWIP: drivers/net/ipa). PPP
 * over a modem's serial line is like any other PPP, and has no `device`. Without sysfs, names decide.
 *
 * One radio may have several interfaces. Those with stations of their own count: a monitor
 * (ARPHRD_IEEE80211 and its kin) hears what the others receive, and those of single stations of an access
 * point, which hostapd names after it ("wlan0.sta1"), are a part of it. Ports of a switch chip have a `device`, but
 * their `iflink` is the interface that leads to the chip, which counts them.
 */

#include "net.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "counter.h"
#include "util/util.h"
#include "wifi-signal.h"

/* include/uapi/linux/if_arp.h */
#define ARPHRD_RAWIP "519\n"
/* 802.11 plain, with Prism's header, and with radiotap's */
static const char *const arphrd_monitors[] = { "801\n", "802\n", "803\n" };

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

static bool read_attribute(int root_fd, const char *name, const char *attribute, char *text, size_t size)
{
        char path[96];

        snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, attribute);
        return util_read_at(root_fd, path, text, size) > 0;
}

static bool is_modem(int root_fd, const char *name)
{
        char text[512];

        if (read_attribute(root_fd, name, "uevent", text, sizeof(text)) && strstr(text, "DEVTYPE=wwan\n"))
                return true;
        return read_attribute(root_fd, name, "type", text, sizeof(text)) && strcmp(text, ARPHRD_RAWIP) == 0;
}

static bool is_monitor(int root_fd, const char *name)
{
        char text[32];
        bool any = false;

        if (!read_attribute(root_fd, name, "type", text, sizeof(text)))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(arphrd_monitors); i++)
                any = any || strcmp(text, arphrd_monitors[i]) == 0;
        return any;
}

/* The part of a name before the last @sign, if that is an interface. */
static bool named_after(int root_fd, const char *name, char sign, char ret[static 32])
{
        const char *end = strrchr(name, sign);

        if (!end || end == name || end - name >= 32)
                return false;
        snprintf(ret, 32, "%.*s", (int)(end - name), name);
        return has(root_fd, ret, ".");
}

/* An interface of a single station is named after another interface of its radio. */
static bool is_part_of_another(int root_fd, const char *name)
{
        char above[32], radio[32], radio_above[32];

        return named_after(root_fd, name, '.', above) &&
               read_attribute(root_fd, name, "phy80211/index", radio, sizeof(radio)) &&
               read_attribute(root_fd, above, "phy80211/index", radio_above, sizeof(radio_above)) &&
               strcmp(radio, radio_above) == 0;
}

static bool is_switch_port(int root_fd, const char *name)
{
        char index[16], link[16];

        return read_attribute(root_fd, name, "ifindex", index, sizeof(index)) &&
               read_attribute(root_fd, name, "iflink", link, sizeof(link)) && strcmp(index, link) != 0;
}

enum net_kind net_kind_of(int root_fd, const char *name)
{
        char above[32];

        if (strcmp(name, "lo") == 0 || named_after(root_fd, name, ':', above)) /* an alias: an address of that one */
                return NET_VIRTUAL;
        if (!has(root_fd, name, "."))
                return strncmp(name, "wl", 2) == 0 ? NET_WIFI : NET_OTHER;
        if (has(root_fd, name, "wireless") || has(root_fd, name, "phy80211"))
                return is_monitor(root_fd, name) ? NET_VIRTUAL : NET_WIFI;
        if (!has(root_fd, name, "device"))
                return NET_VIRTUAL;
        return is_modem(root_fd, name) ? NET_CELLULAR : is_switch_port(root_fd, name) ? NET_VIRTUAL : NET_OTHER;
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
        char state[32];

        return read_attribute(root_fd, name, "operstate", state, sizeof(state)) && strncmp(state, "up", 2) == 0;
}

enum { COUNT_WIFI, COUNT_OTHER }; /* classes of the counters */

/* An interface as the last reading found it. */
struct net_seen {
        struct net_line line;
        enum net_kind kind;
        uint64_t number; /* ifindex, for an interface whose bytes count */
};

struct net_list {
        struct net_seen *list;
        size_t n, capacity;
};

struct net_source {
        struct source source;
        int root_fd;
        char *text;
        size_t capacity;
        struct net_list before, now;
        size_t at; /* index in @before at which the search for the next line begins */
        struct counters counters;
        bool real; /* the interfaces are those of the running kernel, which can be asked */
        struct wifi_signal signal;
};

static uint64_t read_index(const struct net_source *self, const char *name)
{
        char text[16];
        uint64_t index;

        return read_attribute(self->root_fd, name, "ifindex", text, sizeof(text)) &&
               util_parse_u64(text, &index) == 0 && index <= INT32_MAX ? index : 0;
}

static int ask_signal(struct net_source *self, const char *name, int32_t *dbm)
{
        uint64_t index = self->real ? read_index(self, name) : 0;

        return index ? wifi_signal_ask(&self->signal, (uint32_t)index, dbm) : -ENOENT;
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

/* Reads the signal of the interface, unless an earlier one has given it. */
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

static int count(struct net_source *self, const struct net_seen *seen, unsigned class)
{
        struct counter counter = { .number = seen->number, .class = class,
                                   .value = { seen->line.rx_bytes, seen->line.tx_bytes } };

        memcpy(counter.name, seen->line.name, sizeof(seen->line.name));
        return counter_see(&self->counters, &counter);
}

static int add_wifi(struct net_source *self, const struct net_seen *seen, struct sample *sample)
{
        const char *name = seen->line.name;

        if (net_is_up(self->root_fd, name)) {
                sample->wifi_on = true;
                read_signal(self, name, sample);
        }
        return is_part_of_another(self->root_fd, name) ? 0 : count(self, seen, COUNT_WIFI);
}

/* Lines mostly come in the same order, so the search begins after the last hit. */
static const struct net_seen *find_before(struct net_source *self, const char *name)
{
        for (size_t i = 0; i < self->before.n; i++) {
                size_t at = (self->at + i) % self->before.n;

                if (strcmp(self->before.list[at].line.name, name) == 0) {
                        self->at = at + 1;
                        return &self->before.list[at];
                }
        }
        return NULL;
}

/*
 * A machine with many containers has a thousand interfaces, most of them idle. An interface without new bytes counts as
 * unchanged, which saves four system calls. WiFi is always read, as it may have gone up or down.
 */
static struct net_seen look_at(struct net_source *self, const struct net_line *line)
{
        const struct net_seen *before = find_before(self, line->name);
        struct net_seen seen = { .line = *line };

        if (before && before->kind != NET_WIFI && before->line.rx_bytes == line->rx_bytes &&
            before->line.tx_bytes == line->tx_bytes)
                return *before;
        seen.kind = net_kind_of(self->root_fd, line->name);
        if (seen.kind != NET_VIRTUAL)
                seen.number = read_index(self, line->name);
        return seen;
}

static int add_interface(struct net_source *self, const struct net_line *line, struct sample *sample)
{
        struct net_seen seen = look_at(self, line);
        int err = util_grow(&self->now.list, &self->now.capacity, self->now.n + 1, sizeof(*self->now.list));

        if (err)
                return err;
        self->now.list[self->now.n++] = seen;
        switch (seen.kind) {
        case NET_VIRTUAL:
                return 0;
        case NET_WIFI:
                return add_wifi(self, &seen, sample);
        case NET_CELLULAR:
        case NET_OTHER:
                return count(self, &seen, COUNT_OTHER);
        }
        return 0;
}

/* The interfaces of this reading become those of the reading before. */
static void keep_interfaces(struct net_source *self)
{
        struct net_list old = self->before;

        self->before = self->now;
        self->now = old;
        self->now.n = 0;
        self->at = 0;
}

/* On a machine without WiFi the WiFi bytes are known to be 0. */
static int net_read(struct source *source, struct sample *sample)
{
        struct net_source *self = (struct net_source *)source;
        uint64_t (*total)[2] = self->counters.total;
        ssize_t n = counter_read_text(self->root_fd, "proc/net/dev", &self->text, &self->capacity);
        char *state = NULL;
        int err = 0;

        if (n < 0)
                return (int)n;
        self->counters.n_seen = 0;
        self->now.n = self->at = 0;
        for (char *line = strtok_r(self->text, "\n", &state); !err && line; line = strtok_r(NULL, "\n", &state)) {
                struct net_line parsed;

                if (net_parse_line(line, &parsed))
                        err = add_interface(self, &parsed, sample);
        }
        if (!err)
                err = counter_add_up(&self->counters);
        if (err)
                return err;
        keep_interfaces(self);
        sample->wifi_rx_bytes = total[COUNT_WIFI][0];
        sample->wifi_tx_bytes = total[COUNT_WIFI][1];
        sample->other_rx_bytes = total[COUNT_OTHER][0];
        sample->other_tx_bytes = total[COUNT_OTHER][1];
        sample->have |= USAGE_WIFI | USAGE_OTHER_NET;
        return 0;
}

static void net_close(struct source *source)
{
        struct net_source *self = (struct net_source *)source;

        closep(&self->root_fd);
        wifi_signal_close(&self->signal);
        counter_clear(&self->counters);
        free(self->before.list);
        free(self->now.list);
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
        self->counters.wraps = true;
        if (self->root_fd < 0) {
                int err = -errno;

                net_close(&self->source);
                return err;
        }
        proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        self->real = util_is_procfs(proc_fd);
        *ret = &self->source;
        return 0;
}
