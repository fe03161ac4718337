/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "screen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "model/usage.h"
#include "util/util.h"

#define CONNECTORS_MAX 16

struct connector {
        bool internal;
        int status, enabled, dpms; /* descriptors, or -1 */
};

struct screen {
        int brightness, actual, power; /* of the backlight that drives the panel */
        uint32_t max;
        struct connector connectors[CONNECTORS_MAX];
        size_t n;
};

void screen_close(struct screen *screen)
{
        if (!screen)
                return;
        closep(&screen->brightness);
        closep(&screen->actual);
        closep(&screen->power);
        for (size_t i = 0; i < screen->n; i++) {
                closep(&screen->connectors[i].status);
                closep(&screen->connectors[i].enabled);
                closep(&screen->connectors[i].dpms);
        }
        free(screen);
}

static int open_in(int dir_fd, const char *name, const char *file)
{
        char path[320];

        snprintf(path, sizeof(path), "%s/%s", name, file);
        return openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Several interfaces may drive one panel. Documentation/ABI/stable/sysfs-class-backlight: firmware, platform, raw. */
static int backlight_rank(int dir_fd, const char *name)
{
        char path[320], type[32];

        snprintf(path, sizeof(path), "%s/type", name);
        if (util_read_at(dir_fd, path, type, sizeof(type)) < 0)
                return 1;
        return strncmp(type, "firmware", 8) == 0 ? 4 : strncmp(type, "platform", 8) == 0 ? 3 : 2;
}

static uint32_t read_max(int dir_fd, const char *name)
{
        char path[320], text[32];
        uint64_t max;

        snprintf(path, sizeof(path), "%s/max_brightness", name);
        if (util_read_at(dir_fd, path, text, sizeof(text)) < 0 || util_parse_u64(text, &max) < 0)
                return UINT32_MAX;
        return (uint32_t)MIN(max, UINT32_MAX);
}

static void open_backlight(int root_fd, struct screen *screen)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/backlight");
        const struct dirent *entry;
        char best[256] = "";
        int best_rank = 0;

        if (!dir)
                return;
        while ((entry = readdir(dir))) {
                int rank = entry->d_name[0] == '.' ? 0 : backlight_rank(dirfd(dir), entry->d_name);

                if (rank > best_rank || (rank && rank == best_rank && strcmp(entry->d_name, best) < 0)) {
                        best_rank = rank;
                        snprintf(best, sizeof(best), "%s", entry->d_name);
                }
        }
        if (best_rank) {
                screen->brightness = open_in(dirfd(dir), best, "brightness");
                screen->actual = open_in(dirfd(dir), best, "actual_brightness");
                screen->power = open_in(dirfd(dir), best, "bl_power");
                screen->max = read_max(dirfd(dir), best);
        }
}

static bool is_internal(const char *name)
{
        return strstr(name, "-eDP-") || strstr(name, "-DSI-") || strstr(name, "-LVDS-") ||
               strstr(name, "-DPI-");
}

static void open_connectors(int root_fd, struct screen *screen)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, "sys/class/drm");
        const struct dirent *entry;

        if (!dir)
                return;
        while ((entry = readdir(dir)) && screen->n < CONNECTORS_MAX) {
                struct connector *connector = &screen->connectors[screen->n];

                if (strncmp(entry->d_name, "card", 4) != 0 || !strchr(entry->d_name, '-') ||
                    strstr(entry->d_name, "Writeback"))
                        continue;
                connector->internal = is_internal(entry->d_name);
                connector->status = open_in(dirfd(dir), entry->d_name, "status");
                connector->enabled = open_in(dirfd(dir), entry->d_name, "enabled");
                connector->dpms = open_in(dirfd(dir), entry->d_name, "dpms");
                screen->n++;
        }
}

int screen_open(int root_fd, struct screen **ret)
{
        struct screen *screen = calloc(1, sizeof(*screen));

        if (!screen)
                return -ENOMEM;
        screen->brightness = screen->actual = screen->power = -1;
        open_backlight(root_fd, screen);
        open_connectors(root_fd, screen);
        if (screen->brightness < 0 && screen->actual < 0 && screen->n == 0) {
                screen_close(screen);
                return -ENODEV;
        }
        *ret = screen;
        return 0;
}

static bool text(int fd, char *buf, size_t size)
{
        ssize_t n = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

        if (n <= 0)
                return false;
        buf[n] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return true;
}

static bool number(int fd, uint32_t *ret)
{
        char buf[32];
        uint64_t value;

        if (!text(fd, buf, sizeof(buf)) || util_parse_u64(buf, &value) < 0 || value >= BRIGHTNESS_UNKNOWN)
                return false;
        *ret = (uint32_t)value;
        return true;
}

/* 1: on; 0: off; -1: not connected, or unknown. */
static int connector_state(const struct connector *connector)
{
        char status[32], enabled[32], dpms[32];
        bool says_enabled = text(connector->enabled, enabled, sizeof(enabled));
        bool says_dpms = text(connector->dpms, dpms, sizeof(dpms));

        if (text(connector->status, status, sizeof(status)) && strcmp(status, "disconnected") == 0)
                return -1;
        if (!says_enabled && !says_dpms)
                return -1;
        return (!says_enabled || strcmp(enabled, "disabled") != 0) && (!says_dpms || strcmp(dpms, "On") == 0);
}

/*
 * Only the built-in panel counts if there is one, since monitors are not powered by the battery. bl_power other than
 * 0 (FB_BLANK_UNBLANK) means off even if the connector is on. Brightness 0 does not: many panels are still lit.
 */
int screen_read(struct screen *screen, bool *on, uint32_t *brightness)
{
        /* Not actual_brightness first: with some drivers its scale differs from the one that calibration sets. */
        bool has_level = number(screen->brightness, brightness) || number(screen->actual, brightness);
        int state = -1, internal = -1;
        uint32_t power;

        if (!has_level || *brightness > screen->max)
                *brightness = BRIGHTNESS_UNKNOWN;
        for (size_t i = 0; i < screen->n; i++) {
                int one = connector_state(&screen->connectors[i]);

                if (screen->connectors[i].internal)
                        internal = MAX(internal, one);
                state = MAX(state, one);
        }
        if (internal >= 0)
                state = internal;
        if (has_level && state < 0)
                state = 1;
        if (state < 0)
                return -ENODATA;
        if (internal != 0 && has_level && number(screen->power, &power) && power != 0 &&
            (internal > 0 || screen->n == 0))
                state = 0;
        *on = state > 0;
        return 0;
}
