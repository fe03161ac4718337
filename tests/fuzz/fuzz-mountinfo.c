/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "app/app-private.h"
#include "fuzz.h"
#include "hardware/storage.h"
#include "util/util.h"

/*
 * mountinfo, in which users choose names: the device of a storage, and whether a process's root folder is a flatpak's.
 * The first line is the number of the wanted mount.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct storage_mount mount;
        char *mounts;

        fuzz_assert(text);
        mounts = strchr(text, '\n');
        if (!mounts)
                return 0;
        *mounts++ = '\0';
        if (app_flatpak_mounted_safely(mounts))
                fuzz_assert(strstr(mounts, " /.flatpak-info ") && strstr(mounts, " - tmpfs "));
        if (storage_parse_mount(mounts, strtoull(text, NULL, 10), &mount) == 0) {
                fuzz_assert(*mount.type && memchr(mount.type, '\0', sizeof(mount.type)));
                fuzz_assert(*mount.source && memchr(mount.source, '\0', sizeof(mount.source)));
        }
        return 0;
}
