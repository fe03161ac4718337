/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <wayland-client.h>

/* Adds a listener for a protocol without generated code. @listener: a struct of function pointers. */
static inline void wayland_listen(struct wl_proxy *proxy, const void *listener, void *data)
{
        union {
                const void *listener;
                void (**functions)(void);
        } as = { .listener = listener };

        wl_proxy_add_listener(proxy, as.functions, data);
}
