package dev.throng;

import java.util.function.Function;
import org.apache.jmeter.config.ConfigTestElement;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.util.ConfigMergabilityIndicator;
import org.apache.jmeter.engine.util.NoConfigMerge;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.ThreadListener;

/**
 * The objects of elements that a job uses: objects of all users, of the worker, or of the job's user. They are created at
 * their first use and then found by index.
 */
final class Objects {
    private final Loaded test;
    private final TestElement[] own;
    private User user;
    private UserContext context;

    Objects(Loaded test) {
        this.test = test;
        own = new TestElement[test.workerPlaces];
    }

    /** Binds the job of this user, which may have no state (null). */
    void bind(User user, UserContext context) {
        this.user = user;
        this.context = context;
    }

    /** Returns the object of an element for use by this job. */
    TestElement of(Element element) {
        switch (element.each) {
            case ALL:
                return element.prototype;
            case WORKER:
                TestElement made = own[element.place];
                if (made == null) {
                    made = copy(element);
                    own[element.place] = made;
                }
                return made;
            default:
                TestElement his = user.clones[element.place];
                if (his == null) {
                    his = copy(element);
                    user.clones[element.place] = his;
                    if (element.inside != null) {
                        if (element.isBean) {
                            TestBeanHelper.prepare(his);
                        }
                        element.inside.fill((Controller) his, user);
                    }
                    if (element.hearsOfThreads()) {
                        try {
                            ((ThreadListener) his).threadStarted();
                        } catch (Exception e) {
                            Worker.log().error("Error calling threadStarted", e);
                        }
                    }
                }
                use(element.id);
                return his;
        }
    }

    /** Returns the object of an element that this job only reads. */
    TestElement known(Element element) {
        TestElement made = switch (element.each) {
            case ALL -> element.prototype;
            case WORKER -> own[element.place];
            default -> user == null || user.clones == null ? null : user.clones[element.place];
        };
        return made == null ? element.prototype : made;
    }

    private static TestElement copy(Element element) {
        TestElement copy = (TestElement) element.prototype.clone();
        if (element.preparedOnce) {
            TestBeanHelper.prepare(copy);
        }
        return copy;
    }

    private void use(int id) {
        for (int i = 0; i < user.usedCount; i++) {
            if (user.used[i] == id) {
                return;
            }
        }
        if (user.usedCount < user.used.length) {
            user.used[user.usedCount++] = id;
        }
    }

    /** Ends the previous sample: restores its elements to their state before it. */
    void recover(int sample) {
        user.sample = sample;
        for (int i = 0; i < user.usedCount; i++) {
            user.clones[test.elements[user.used[i]].place].recoverRunningVersion();
        }
        user.usedCount = 0;
        user.configured = null;
        user.context.cleanAfterSample();
    }

    /** Returns the object of the current sampler. It is configured for this sample if anything reads it. */
    Sampler sampler(Loaded.Owner owner, boolean configured) {
        Element element = owner.element;
        if (element.each == Element.Each.USER && !configured) {
            // Nothing reads the object; its only purpose is that there is a current sampler.
            Sampler stand = (Sampler) element.prototype;
            makeCurrent(stand);
            return stand;
        }
        Sampler sampler = (Sampler) of(element);
        if (element.each == Element.Each.USER && user.configured != owner) {
            user.configured = owner;
            merge(sampler, owner, this::of);
        }
        makeCurrent(sampler);
        return sampler;
    }

    /** Returns true if header managers of the user that several samplers share differ from the plan. */
    boolean changedHeaders(Loaded.Owner owner, Output planned, Output mine) {
        for (Element config : owner.configs) {
            TestElement his = config.each == Element.Each.USER ? user.clones[config.place] : null;
            if (his instanceof HeaderManager) {
                mine.clear();
                Requests.trace(mine, his);
                planned.clear();
                Requests.trace(planned, config.prototype);
                if (!mine.same(planned)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The current sampler becomes the previous one, except in a further job of the same sample. */
    void makeCurrent(Sampler sampler) {
        if (context.getCurrentSampler() != sampler) {
            context.setCurrentSampler(sampler);
        }
    }

    /** Adds the config elements to the sampler, as JMeter does before each sample. */
    static void merge(Sampler sampler, Loaded.Owner owner, Function<Element, TestElement> objects) {
        sampler.clearTestElementChildren();
        for (Element config : owner.configs) {
            TestElement object = objects.apply(config);
            if (object instanceof ConfigTestElement && !(object instanceof NoConfigMerge)
                    && (!(sampler instanceof ConfigMergabilityIndicator)
                        || ((ConfigMergabilityIndicator) sampler).applies((ConfigTestElement) object))) {
                sampler.addTestElement(object);
            }
        }
    }
}
