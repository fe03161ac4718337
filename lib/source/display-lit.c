/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "display-lit.h"

#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define STRIP_RATIO 3 /* a panel with a higher ratio of length to width is no main screen: phones have 2.4 at most */

/* Is it a strip, by its first mode? Monitors are up to 3.6 times as wide as high, and not the other way round. */
static bool is_strip(enum connector_kind kind, const char *modes)
{
        unsigned width, height;

        if (kind == CONNECTOR_OTHER || sscanf(modes, "%5ux%5u", &width, &height) != 2 || width == 0 || height == 0)
                return false;
        return height > STRIP_RATIO * width || (kind != CONNECTOR_MONITOR && width > STRIP_RATIO * height);
}

enum connector_kind display_connector_kind(const char *name, const char *modes)
{
        static const struct {
                const char *part;
                enum connector_kind kind;
        } kinds[] = {
                { "-eDP-", CONNECTOR_PANEL },
                { "-LVDS-", CONNECTOR_PANEL },
                { "-DSI-", CONNECTOR_DSI },
                { "-DPI-", CONNECTOR_DSI },
                { "-SPI-", CONNECTOR_DSI },
                { "-Unknown-", CONNECTOR_OTHER }, /* simpledrm: the firmware's picture */
                { "-Virtual-", CONNECTOR_OTHER },
        };

        enum connector_kind kind = CONNECTOR_MONITOR;

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strstr(name, kinds[i].part))
                        kind = kinds[i].kind;
        return is_strip(kind, modes) ? CONNECTOR_STRIP : kind;
}

/* A driver that sets `enabled` at all has set it for a connector that is lit. */
static bool sets_enabled(const struct connector_says *list, size_t n, unsigned card)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].card == card && list[i].enabled == LIT_ON)
                        return true;
        return false;
}

/* `disabled` alone has no meaning if no connector of the card is enabled, but this one's `dpms` is On. */
static enum lit connector_lit(const struct connector_says *list, size_t n, const struct connector_says *one)
{
        if (one->silent)
                return LIT_UNKNOWN;
        if (one->enabled == LIT_OFF && !(one->dpms == LIT_ON && !sets_enabled(list, n, one->card)))
                return LIT_OFF;
        return one->dpms == LIT_UNKNOWN ? one->enabled : one->dpms;
}

/*
 * Among connected connectors of these kinds: on if one is on, else unknown if one is unknown. False: none is
 * connected.
 */
static bool any_lit(const struct connector_says *list, size_t n, unsigned kinds, enum lit *ret)
{
        bool found = false;

        *ret = LIT_OFF;
        for (size_t i = 0; i < n; i++) {
                enum lit one;

                if (!(list[i].kind & kinds) || !list[i].connected)
                        continue;
                one = connector_lit(list, n, &list[i]);
                if (one == LIT_ON || (one == LIT_UNKNOWN && *ret == LIT_OFF))
                        *ret = one;
                found = true;
        }
        return found;
}

static bool has_kind(const struct connector_says *list, size_t n, unsigned kinds)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].kind & kinds)
                        return true;
        return false;
}

/* The kinds of the main screen. */
static unsigned built_in_kinds(const struct connector_says *list, size_t n)
{
        return any_lit(list, n, CONNECTOR_PANEL, &(enum lit){ 0 }) ? CONNECTOR_PANEL : CONNECTOR_PANEL | CONNECTOR_DSI;
}

struct screen_lit display_lit(const struct connector_says *list, size_t n, enum lit power, bool backlight)
{
        unsigned kinds = built_in_kinds(list, n);
        bool built_in = has_kind(list, n, kinds), connected;
        struct screen_lit ret = { .has_panel = built_in || backlight || power || has_kind(list, n, CONNECTOR_OTHER) };
        bool monitor = any_lit(list, n, CONNECTOR_MONITOR, &ret.monitor);

        if (!ret.has_panel) { /* the monitor is all there is */
                ret.panel = monitor ? LIT_OFF : LIT_UNKNOWN;
                return ret;
        }
        connected = any_lit(list, n, built_in ? kinds : CONNECTOR_OTHER, &ret.panel);
        if (!connected) /* some are not while the lid is closed */
                ret.panel = built_in && ret.monitor == LIT_ON ? LIT_OFF : LIT_UNKNOWN;
        if (power == LIT_OFF)
                ret.panel = LIT_OFF;
        else if (ret.panel == LIT_UNKNOWN && (power == LIT_ON || backlight))
                ret.panel = LIT_ON;
        return ret;
}
