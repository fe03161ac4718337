/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The screen: brightness by the backlight class (Documentation/ABI/stable/sysfs-class-backlight), on or off by its
 * bl_power and by the DPMS state of the panel's connector (sys/class/drm). For a single look (doctor, calibration);
 * the service keeps descriptors open and watches them (focus/screen.c).
 */

#include "display.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/usage.h"
#include "util/util.h"

static bool read_number(int root_fd, const char *folder, const char *name, const char *attribute,
                        uint32_t *ret)
{
        char path[512], text[32];
        uint64_t value;

        snprintf(path, sizeof(path), "%s/%s/%s", folder, name, attribute);
        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &value) < 0 ||
            value >= BRIGHTNESS_UNKNOWN)
                return false;
        *ret = (uint32_t)value;
        return true;
}

static bool reads_as(int root_fd, const char *folder, const char *name, const char *attribute,
                     const char *word)
{
        char path[512], text[32];

        snprintf(path, sizeof(path), "%s/%s/%s", folder, name, attribute);
        if (util_read_at(root_fd, path, text, sizeof(text)) <= 0)
                return false;
        text[strcspn(text, "\n")] = '\0';
        return strcmp(text, word) == 0;
}

/* Calls @each with the name of each entry of a folder. */
static void for_each(int root_fd, const char *folder, void *data,
                     void (*each)(void *data, int root_fd, const char *name))
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, folder);
        struct dirent *entry;

        if (!dir)
                return;
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.' && strlen(entry->d_name) < 64)
                        each(data, root_fd, entry->d_name);
}

#define BACKLIGHT "sys/class/backlight"
#define DRM "sys/class/drm"

struct choice {
        struct display_state *state;
        int rank;
};

/* By preference firmware, platform, raw, as the kernel's document recommends. */
static void choose_backlight(void *data, int root_fd, const char *name)
{
        struct choice *choice = data;
        uint32_t max;
        int rank = reads_as(root_fd, BACKLIGHT, name, "type", "firmware")   ? 3
                   : reads_as(root_fd, BACKLIGHT, name, "type", "platform") ? 2
                                                                             : 1;

        if (!read_number(root_fd, BACKLIGHT, name, "max_brightness", &max) || max == 0)
                return;
        if (rank < choice->rank || (rank == choice->rank && strcmp(name, choice->state->backlight) > 0))
                return;
        choice->rank = rank;
        choice->state->max_brightness = max;
        snprintf(choice->state->backlight, sizeof(choice->state->backlight), "%s", name);
}

struct connectors {
        bool panel_only; /* with a backlight: a screen on a cable has its own power supply */
        bool any;
        bool on;
};

static bool is_panel(const char *name)
{
        return strstr(name, "-eDP-") || strstr(name, "-DSI-") || strstr(name, "-LVDS-") ||
               strstr(name, "-DPI-");
}

static void look_at_connector(void *data, int root_fd, const char *name)
{
        struct connectors *connectors = data;

        if (!reads_as(root_fd, DRM, name, "status", "connected") ||
            (connectors->panel_only && !is_panel(name)))
                return;
        connectors->any = true;
        if (reads_as(root_fd, DRM, name, "dpms", "On") &&
            !reads_as(root_fd, DRM, name, "enabled", "disabled"))
                connectors->on = true;
}

static void look_at_backlight(int root_fd, struct display_state *state)
{
        uint32_t power;

        state->screen_known = read_number(root_fd, BACKLIGHT, state->backlight, "brightness",
                                          &state->brightness);
        if (state->brightness > state->max_brightness)
                state->brightness = BRIGHTNESS_UNKNOWN;
        /* FB_BLANK_UNBLANK is 0; every other value is off. */
        state->screen_on = !read_number(root_fd, BACKLIGHT, state->backlight, "bl_power", &power) ||
                           power == 0;
}

int display_look(int root_fd, struct display_state *ret)
{
        struct display_state state = { .brightness = BRIGHTNESS_UNKNOWN };
        struct choice choice = { &state, 0 };
        struct connectors connectors = { 0 };

        for_each(root_fd, BACKLIGHT, &choice, choose_backlight);
        if (choice.rank > 0)
                look_at_backlight(root_fd, &state);
        connectors.panel_only = choice.rank > 0;
        for_each(root_fd, DRM, &connectors, look_at_connector);
        if (connectors.panel_only && !connectors.any) { /* the panel has an unusual name */
                connectors.panel_only = false;
                for_each(root_fd, DRM, &connectors, look_at_connector);
        }
        if (choice.rank == 0 && !connectors.any)
                return -ENODEV;
        if (connectors.any)
                state.screen_on = connectors.on && (choice.rank == 0 || state.screen_on);
        state.screen_known = state.screen_known || connectors.any;
        *ret = state;
        return 0;
}
