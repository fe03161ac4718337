/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* sd-bus from the library that meson found: libsystemd, libelogind (which has the same folder of headers), or basu. */

#ifdef JOULECAST_BASU
#include <basu/sd-bus.h>
#else
#include <systemd/sd-bus.h>
#endif

#include <stdbool.h>
#include <unistd.h>

/* Does systemd manage this machine? The same as sd_booted(3), which not all of these libraries have. */
static inline bool systemd_manages(void)
{
        return access("/run/systemd/system", F_OK) == 0;
}

/* Older libraries have no names of arguments, which only introspection shows. */
#ifndef SD_BUS_METHOD_WITH_NAMES
#define SD_BUS_METHOD_WITH_NAMES(member, in, in_names, out, out_names, handler, flags)                       \
        SD_BUS_METHOD(member, in, out, handler, flags)
#endif
