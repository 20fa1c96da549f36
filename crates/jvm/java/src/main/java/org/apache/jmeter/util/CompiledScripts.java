package org.apache.jmeter.util;

import com.github.benmanes.caffeine.cache.Cache;
import java.lang.reflect.Field;
import javax.script.CompiledScript;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Makes JMeter's cache of compiled scripts accessible, whose keys only its own package can create. So a script that was
 * compiled for a check is not compiled again.
 */
public final class CompiledScripts {
    private CompiledScripts() {
    }

    @SuppressWarnings("unchecked")
    public static void put(String script, CompiledScript compiled) throws ReflectiveOperationException {
        Field field = JSR223TestElement.class.getDeclaredField("COMPILED_SCRIPT_CACHE");
        field.setAccessible(true);
        Cache<ScriptCacheKey, CompiledScript> cache = (Cache<ScriptCacheKey, CompiledScript>) field.get(null);
        cache.put(ScriptCacheKey.ofString(DigestUtils.md5Hex(script)), compiled);
    }
}
